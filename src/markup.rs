//! Elements as the views write them, built by a few calls each.
//!
//! Dictation: the views say what opens, what it bears and what closes, and one scribe writes it down.
//! Yew's own `html!` reads the same, and builds each element's parts where it stands: about 300 bytes
//! of wasm an element, a fifth of the page's code. This one leaves out components (see
//! [`component`]), properties, and whatever no view here uses.

use std::rc::Rc;

use yew::html::{onchange, onclick, onclose, onkeydown, onpointerdown, onpointermove, onsubmit};
use yew::prelude::*;
use yew::virtual_dom::{
    AttrValue, AttributeOrProperty, Attributes, Key, Listener, VComp, VList, VNode, VTag, VText,
};

/// What is being written: elements and lists that are open, the children so far, and the values of
/// the attributes of the element whose tag is being written.
#[derive(Default)]
pub(crate) struct Markup {
    open: Vec<Open>,
    nodes: Vec<Html>,
    values: Vec<Option<AttributeOrProperty>>,
}

/// An element, or a list of no tag; and how many nodes there were before it.
struct Open {
    tag: Option<VTag>,
    before: usize,
}

impl Markup {
    #[inline(never)]
    pub(crate) fn open(&mut self, tag: &'static str) {
        let tag = Some(VTag::new(tag));
        let before = self.nodes.len();
        self.open.push(Open { tag, before });
    }

    /// Opens a list. A part that may be absent is a list too, so that its neighbours keep their
    /// places.
    #[inline(never)]
    pub(crate) fn begin(&mut self) {
        let before = self.nodes.len();
        self.open.push(Open { tag: None, before });
    }

    /// Closes what was opened last.
    #[inline(never)]
    pub(crate) fn close(&mut self) {
        let Some(Open { tag, before }) = self.open.pop() else {
            return;
        };
        let mut children = self.nodes.split_off(before);
        let node = match tag {
            None => list(children),
            Some(mut tag) => {
                if let Some(only) = children.pop() {
                    let inside = if children.is_empty() {
                        only
                    } else {
                        children.push(only);
                        list(children)
                    };
                    if let Some(place) = tag.children_mut() {
                        *place = inside;
                    }
                }
                tag.into()
            }
        };
        self.nodes.push(node);
    }

    fn tag(&mut self) -> Option<&mut VTag> {
        self.open.last_mut()?.tag.as_mut()
    }

    pub(crate) fn value(&mut self, value: impl Value) {
        value.put(self);
    }

    #[inline(never)]
    fn word(&mut self, word: &'static str) {
        self.values.push(Some(AttributeOrProperty::Static(word)));
    }

    #[inline(never)]
    fn text_value(&mut self, text: String) {
        let text = AttributeOrProperty::Attribute(AttrValue::from(text));
        self.values.push(Some(text));
    }

    #[inline(never)]
    fn no_value(&mut self) {
        self.values.push(None);
    }

    /// The names of the values so far, in their order.
    #[inline(never)]
    pub(crate) fn names(&mut self, keys: &'static [&'static str]) {
        let values = std::mem::take(&mut self.values).into_boxed_slice();
        if let Some(tag) = self.tag() {
            tag.attributes = Attributes::Dynamic { keys, values };
        }
    }

    #[inline(never)]
    pub(crate) fn key(&mut self, key: Key) {
        if let Some(tag) = self.tag() {
            tag.key = Some(key);
        }
    }

    #[inline(never)]
    pub(crate) fn on(&mut self, listener: Rc<dyn Listener>) {
        if let Some(tag) = self.tag() {
            tag.add_listener(listener);
        }
    }

    pub(crate) fn node(&mut self, node: impl Node) {
        node.put(self);
    }

    #[inline(never)]
    fn push(&mut self, node: Html) {
        self.nodes.push(node);
    }

    #[inline(never)]
    pub(crate) fn literal(&mut self, text: &'static str) {
        self.nodes.push(VText::new(text).into());
    }

    #[inline(never)]
    fn text(&mut self, text: &str) {
        self.nodes.push(VText::new(text.to_owned()).into());
    }

    pub(crate) fn list(&mut self, all: impl IntoIterator<Item = Html>) {
        self.begin();
        for node in all {
            self.push(node);
        }
        self.close();
    }

    #[inline(never)]
    pub(crate) fn end(mut self) -> Html {
        if self.nodes.len() == 1 {
            self.nodes.pop().unwrap_or_default()
        } else {
            list(self.nodes)
        }
    }
}

fn list(nodes: Vec<Html>) -> Html {
    VNode::from(VList::with_children(nodes, None))
}

/// What an attribute can be: a text, or nothing.
pub(crate) trait Value {
    fn put(self, markup: &mut Markup);
}

impl Value for &'static str {
    fn put(self, markup: &mut Markup) {
        markup.word(self);
    }
}

impl Value for String {
    fn put(self, markup: &mut Markup) {
        markup.text_value(self);
    }
}

/// An attribute that is there or not, such as `open`.
impl Value for bool {
    fn put(self, markup: &mut Markup) {
        markup.value(self.then_some(""));
    }
}

impl<T: Value> Value for Option<T> {
    fn put(self, markup: &mut Markup) {
        match self {
            Some(value) => value.put(markup),
            None => markup.no_value(),
        }
    }
}

/// Several classes; none of them, no attribute.
#[derive(Default)]
pub(crate) struct Classes(String);

impl Classes {
    pub(crate) fn add(&mut self, class: impl Class) {
        class.put(self);
    }

    #[inline(never)]
    fn push(&mut self, class: &str) {
        if !class.is_empty() {
            if !self.0.is_empty() {
                self.0.push(' ');
            }
            self.0.push_str(class);
        }
    }
}

impl Value for Classes {
    fn put(self, markup: &mut Markup) {
        if self.0.is_empty() {
            markup.no_value();
        } else {
            markup.text_value(self.0);
        }
    }
}

/// One class or several, or none.
pub(crate) trait Class {
    fn put(self, classes: &mut Classes);
}

impl Class for &str {
    fn put(self, classes: &mut Classes) {
        classes.push(self);
    }
}

impl Class for String {
    fn put(self, classes: &mut Classes) {
        classes.push(&self);
    }
}

impl Class for Classes {
    fn put(self, classes: &mut Classes) {
        classes.push(&self.0);
    }
}

impl<T: Class> Class for Option<T> {
    fn put(self, classes: &mut Classes) {
        if let Some(class) = self {
            class.put(classes);
        }
    }
}

/// What can stand between two tags.
pub(crate) trait Node {
    fn put(self, markup: &mut Markup);
}

impl Node for Html {
    fn put(self, markup: &mut Markup) {
        markup.push(self);
    }
}

impl Node for &str {
    fn put(self, markup: &mut Markup) {
        markup.text(self);
    }
}

impl Node for String {
    fn put(self, markup: &mut Markup) {
        markup.text(&self);
    }
}

impl Node for &String {
    fn put(self, markup: &mut Markup) {
        markup.text(self);
    }
}

impl Node for u64 {
    fn put(self, markup: &mut Markup) {
        markup.text(&self.to_string());
    }
}

impl Node for usize {
    fn put(self, markup: &mut Markup) {
        markup.node(self as u64);
    }
}

/// A component with its properties.
pub(crate) fn component<C: BaseComponent>(properties: C::Properties) -> Html {
    VComp::new::<C>(Rc::new(properties), None).into()
}

macro_rules! listeners {
    ($($name:ident: $event:ty),*) => {$(
        pub(crate) fn $name(callback: Callback<$event>) -> Rc<dyn Listener> {
            Rc::new($name::Wrapper::new(callback))
        }
    )*};
}

/// What listens, by the name of its attribute.
pub(crate) mod on {
    use super::*;

    listeners!(
        onchange: Event,
        onclick: MouseEvent,
        onclose: Event,
        onkeydown: KeyboardEvent,
        onpointerdown: PointerEvent,
        onpointermove: PointerEvent,
        onsubmit: SubmitEvent
    );
}

/// Whether a closing tag is that of the element that is open.
pub(crate) const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut n = 0;
    while n < a.len() && n < b.len() && a[n] == b[n] {
        n += 1;
    }
    n == a.len() && n == b.len()
}

/// Classes in one attribute.
macro_rules! classes {
    ($($class:expr),* $(,)?) => {{
        let mut classes = $crate::markup::Classes::default();
        $(classes.add($class);)*
        classes
    }};
}

/// Elements, in the words of Yew's `html!`.
///
/// `@k` reads children, with the tags that are open; `@a` the attributes of a tag, with their names
/// so far; `@if` a condition up to its braces, with the branches before it.
macro_rules! html {
    (@k $m:ident []) => {};
    (@k $m:ident $open:tt < > $($rest:tt)*) => {
        $crate::markup::html!(@k $m $open $($rest)*);
    };
    (@k $m:ident $open:tt < / > $($rest:tt)*) => {
        $crate::markup::html!(@k $m $open $($rest)*);
    };
    (@k $m:ident [$top:ident $($open:ident)*] < / $tag:ident > $($rest:tt)*) => {
        const _: () = assert!($crate::markup::is_same(stringify!($top), stringify!($tag)));
        $m.close();
        $crate::markup::html!(@k $m [$($open)*] $($rest)*);
    };
    (@k $m:ident $open:tt < $tag:ident $($rest:tt)*) => {
        $m.open(stringify!($tag));
        $crate::markup::html!(@a $m $open $tag [] $($rest)*);
    };
    (@k $m:ident $open:tt if $($rest:tt)*) => {
        $crate::markup::html!(@if $m $open [] [] $($rest)*);
    };
    (@k $m:ident $open:tt { for $($all:tt)* } $($rest:tt)*) => {
        $m.list($($all)*);
        $crate::markup::html!(@k $m $open $($rest)*);
    };
    (@k $m:ident $open:tt { $text:literal } $($rest:tt)*) => {
        $m.literal($text);
        $crate::markup::html!(@k $m $open $($rest)*);
    };
    (@k $m:ident $open:tt { $($node:tt)* } $($rest:tt)*) => {
        $m.node($($node)*);
        $crate::markup::html!(@k $m $open $($rest)*);
    };

    (@a $m:ident [$($open:ident)*] $tag:ident [] > $($rest:tt)*) => {
        $crate::markup::html!(@k $m [$tag $($open)*] $($rest)*);
    };
    (@a $m:ident $open:tt $tag:ident [] / > $($rest:tt)*) => {
        $m.close();
        $crate::markup::html!(@k $m $open $($rest)*);
    };
    (@a $m:ident [$($open:ident)*] $tag:ident [$($names:tt)+] > $($rest:tt)*) => {
        $m.names(&[$($names)+]);
        $crate::markup::html!(@k $m [$tag $($open)*] $($rest)*);
    };
    (@a $m:ident $open:tt $tag:ident [$($names:tt)+] / > $($rest:tt)*) => {
        $m.names(&[$($names)+]);
        $m.close();
        $crate::markup::html!(@k $m $open $($rest)*);
    };
    (@a $m:ident $open:tt $tag:ident $names:tt { $name:ident } $($rest:tt)*) => {
        $crate::markup::html!(@a $m $open $tag $names $name = {$name} $($rest)*);
    };
    (@a $m:ident $open:tt $tag:ident $names:tt key = { $key:expr } $($rest:tt)*) => {
        $m.key(yew::virtual_dom::Key::from($key));
        $crate::markup::html!(@a $m $open $tag $names $($rest)*);
    };
    (@on $m:ident $open:tt $tag:ident $names:tt $on:ident { $callback:expr } $($rest:tt)*) => {
        $m.on($crate::markup::on::$on($callback));
        $crate::markup::html!(@a $m $open $tag $names $($rest)*);
    };
    (@a $m:ident $open:tt $tag:ident $names:tt onchange = $($rest:tt)*) => {
        $crate::markup::html!(@on $m $open $tag $names onchange $($rest)*);
    };
    (@a $m:ident $open:tt $tag:ident $names:tt onclick = $($rest:tt)*) => {
        $crate::markup::html!(@on $m $open $tag $names onclick $($rest)*);
    };
    (@a $m:ident $open:tt $tag:ident $names:tt onclose = $($rest:tt)*) => {
        $crate::markup::html!(@on $m $open $tag $names onclose $($rest)*);
    };
    (@a $m:ident $open:tt $tag:ident $names:tt onkeydown = $($rest:tt)*) => {
        $crate::markup::html!(@on $m $open $tag $names onkeydown $($rest)*);
    };
    (@a $m:ident $open:tt $tag:ident $names:tt onpointerdown = $($rest:tt)*) => {
        $crate::markup::html!(@on $m $open $tag $names onpointerdown $($rest)*);
    };
    (@a $m:ident $open:tt $tag:ident $names:tt onpointermove = $($rest:tt)*) => {
        $crate::markup::html!(@on $m $open $tag $names onpointermove $($rest)*);
    };
    (@a $m:ident $open:tt $tag:ident $names:tt onsubmit = $($rest:tt)*) => {
        $crate::markup::html!(@on $m $open $tag $names onsubmit $($rest)*);
    };
    (@a $m:ident $open:tt $tag:ident $names:tt $a:ident = $($rest:tt)*) => {
        $crate::markup::html!(@v $m $open $tag $names [stringify!($a)] $($rest)*);
    };
    (@a $m:ident $open:tt $tag:ident $names:tt $a:ident - $b:ident = $($rest:tt)*) => {
        $crate::markup::html!(
            @v $m $open $tag $names [concat!(stringify!($a), "-", stringify!($b))] $($rest)*
        );
    };
    (@v $m:ident $open:tt $tag:ident [$($names:tt)*] [$name:expr] { $value:expr } $($rest:tt)*) => {
        $m.value($value);
        $crate::markup::html!(@a $m $open $tag [$($names)* $name,] $($rest)*);
    };
    (@v $m:ident $open:tt $tag:ident [$($names:tt)*] [$name:expr] $value:literal $($rest:tt)*) => {
        $m.value($value);
        $crate::markup::html!(@a $m $open $tag [$($names)* $name,] $($rest)*);
    };

    (@if $m:ident $open:tt [$($before:tt)*] [$($if:tt)*] { $($then:tt)* } else if $($rest:tt)*) => {
        $crate::markup::html!(@if $m $open [
            $($before)* if $($if)* { $crate::markup::html!(@k $m [] $($then)*); } else
        ] [] $($rest)*);
    };
    (@if $m:ident $open:tt [$($before:tt)*] [$($if:tt)*] { $($then:tt)* } else { $($or:tt)* }
        $($rest:tt)*) => {
        $m.begin();
        $($before)* if $($if)* {
            $crate::markup::html!(@k $m [] $($then)*);
        } else {
            $crate::markup::html!(@k $m [] $($or)*);
        }
        $m.close();
        $crate::markup::html!(@k $m $open $($rest)*);
    };
    (@if $m:ident $open:tt [$($before:tt)*] [$($if:tt)*] { $($then:tt)* } $($rest:tt)*) => {
        $m.begin();
        $($before)* if $($if)* {
            $crate::markup::html!(@k $m [] $($then)*);
        }
        $m.close();
        $crate::markup::html!(@k $m $open $($rest)*);
    };
    (@if $m:ident $open:tt $before:tt [$($if:tt)*] $next:tt $($rest:tt)*) => {
        $crate::markup::html!(@if $m $open $before [$($if)* $next] $($rest)*);
    };

    ($($all:tt)*) => {{
        let mut markup = $crate::markup::Markup::default();
        $crate::markup::html!(@k markup [] $($all)*);
        markup.end()
    }};
}

pub(crate) use {classes, html};
