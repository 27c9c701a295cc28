//! The smallest HTTP client that can tell whether our own server serves our own page.
//!
//! A knock on the door and a look at what is handed out: no redirects, no encryption, no chunks. Version 1.0
//! of the protocol spares us all three, and a server on this machine answers it.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) body: Vec<u8>,
}

pub(crate) fn get(port: u16, path: &str) -> io::Result<Answer> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    // Trunk falls back to the page only for those who accept a page.
    write!(
        stream,
        "GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nAccept: text/html, */*\r\n\r\n"
    )?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    parse(&bytes).ok_or_else(|| io::Error::other("this is no HTTP answer"))
}

fn parse(bytes: &[u8]) -> Option<Answer> {
    let end_of_head = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end_of_head]).ok()?;
    let mut lines = head.split("\r\n");
    let status = lines
        .next()?
        .strip_prefix("HTTP/1.")?
        .split(' ')
        .nth(1)?
        .parse()
        .ok()?;
    let content_type = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-type"))
        .map_or_else(String::new, |(_, value)| value.trim().to_owned());
    Some(Answer {
        status,
        content_type,
        body: bytes[end_of_head + 4..].to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_an_answer() {
        let answer = parse(b"HTTP/1.0 200 OK\r\nContent-Type: application/wasm\r\n\r\n\0asm");
        let want = Answer {
            status: 200,
            content_type: "application/wasm".to_owned(),
            body: b"\0asm".to_vec(),
        };
        assert_eq!(answer, Some(want));
        assert_eq!(parse(b"SSH-2.0\r\n\r\n"), None);
        assert_eq!(parse(b"HTTP/1.1 200 OK\r\n"), None);
    }
}
