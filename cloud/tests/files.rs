//! Whole files from a web server on this machine: one that answers as it is told, byte for byte.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use base::remote::{Accept, Objects, Stop, client};
use tempfile::{TempDir, tempdir};

/// What a server does with the next request.
#[derive(Clone)]
enum Does {
    Answers(String),
    /// Answers, and does not close for so long.
    Keeps(String, Duration),
}

struct Lab {
    client: Arc<dyn Objects>,
    url: String,
    /// The heads of the requests until now.
    heads: Arc<Mutex<Vec<String>>>,
    folder: TempDir,
}

impl Lab {
    /// A server that does one thing after the other, and the last one again and again.
    fn new(does: &[Does]) -> Lab {
        cloud::install();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (seen, does) = (Arc::clone(&heads), does.to_owned());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, seen, does) = (stream.unwrap(), Arc::clone(&seen), does.clone());
                thread::spawn(move || {
                    let lines = BufReader::new(stream.try_clone().unwrap()).lines();
                    let head: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
                    if head.is_empty() {
                        return;
                    }
                    let number = {
                        let mut seen = seen.lock().unwrap();
                        seen.push(head.join("\n"));
                        seen.len() - 1
                    };
                    match does.get(number).or(does.last()).unwrap() {
                        Does::Answers(answer) => stream.write_all(answer.as_bytes()).unwrap(),
                        Does::Keeps(answer, time) => {
                            stream.write_all(answer.as_bytes()).unwrap();
                            thread::sleep(*time);
                        }
                    }
                });
            }
        });
        Lab { client: client(&url).unwrap(), url, heads, folder: tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("came")
    }

    fn fetch(&self, accept: Accept, most: u64, stop: &Stop) -> io::Result<u64> {
        self.client.fetch(&format!("{}/a.pdb/1/a.pdb", self.url), accept, &self.path(), most, stop)
    }

    /// What came, or what kind of error; and how many requests it took.
    #[track_caller]
    fn t(&self, expected: Result<&str, io::ErrorKind>, requests: usize) {
        let fetched = self.fetch(Accept::Msfz, 100, &Stop::default());
        let came = fetched.map(|size| {
            let text = std::fs::read_to_string(self.path()).unwrap();
            assert_eq!(size, text.len() as u64);
            text
        });
        assert_eq!(came.as_deref().map_err(io::Error::kind), expected);
        assert_eq!(self.heads.lock().unwrap().len(), requests);
    }
}

fn answer(status: &str, headers: &str, body: &str) -> Does {
    let length = body.len();
    Does::Answers(format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{headers}Connection: close\r\n\r\n{body}"))
}

#[test]
fn a_file_comes_whole_as_the_type_that_was_asked_for() {
    let lab = Lab::new(&[answer("200 OK", "", "hello")]);
    lab.t(Ok("hello"), 1);
    lab.fetch(Accept::Any, 100, &Stop::default()).unwrap();
    let heads = lab.heads.lock().unwrap().join("\n\n").to_lowercase();
    let asked: Vec<&str> = heads.lines().filter(|line| line.starts_with("accept:")).collect();
    assert_eq!(asked, ["accept: application/msfz0", "accept: */*"]);
    assert!(heads.starts_with("get /a.pdb/1/a.pdb http/1.1"), "{heads}");
}

#[test]
fn a_server_may_name_another_place() {
    let lab = Lab::new(&[answer("302 Found", "Location: /elsewhere\r\n", ""), answer("200 OK", "", "moved")]);
    lab.t(Ok("moved"), 2);
    assert!(lab.heads.lock().unwrap()[1].starts_with("GET /elsewhere "));
}

#[test]
fn what_is_not_there_is_asked_for_once() {
    Lab::new(&[answer("404 Not Found", "", "no")]).t(Err(io::ErrorKind::NotFound), 1);
    Lab::new(&[answer("302 Found", "Location: /a.pdb/1/a.pdb\r\n", "")]).t(Err(io::ErrorKind::Other), 11);
    Lab::new(&[answer("403 Forbidden", "", "no")]).t(Err(io::ErrorKind::PermissionDenied), 1);
}

#[test]
fn what_fails_for_a_moment_is_asked_for_again() {
    let (busy, there) = (answer("503 Service Unavailable", "", ""), answer("200 OK", "", "hello"));
    Lab::new(&[busy.clone(), busy, there.clone()]).t(Ok("hello"), 3);
    let cut = Does::Answers("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhel".to_owned());
    Lab::new(&[cut.clone(), there]).t(Ok("hello"), 2);
    Lab::new(&[cut]).t(Err(io::ErrorKind::ConnectionAborted), 4);
    let busy = answer("429 Too Many Requests", "", "");
    Lab::new(&[busy]).t(Err(io::ErrorKind::ResourceBusy), 4);
    Lab::new(&[answer("400 Bad Request", "", "")]).t(Err(io::ErrorKind::Other), 1);
}

#[test]
fn a_server_need_not_say_how_long_a_file_is() {
    let ends = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello";
    Lab::new(&[Does::Answers(ends.to_owned())]).t(Ok("hello"), 1);
    let parts = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n";
    Lab::new(&[Does::Answers(format!("{parts}0\r\n\r\n"))]).t(Ok("hello"), 1);
    Lab::new(&[Does::Answers(parts.to_owned())]).t(Err(io::ErrorKind::ConnectionAborted), 4);
    let lab = Lab::new(&[Does::Answers(format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}", "x".repeat(101)))]);
    lab.t(Err(io::ErrorKind::FileTooLarge), 1);
}

#[test]
fn what_is_too_large_is_not_taken() {
    let lab = Lab::new(&[answer("200 OK", "", &"x".repeat(101))]);
    lab.t(Err(io::ErrorKind::FileTooLarge), 1);
    assert!(!lab.path().exists() || std::fs::metadata(lab.path()).unwrap().len() == 0);
}

#[test]
fn whoever_waits_is_let_go() {
    let silent = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel".to_owned();
    let lab = Lab::new(&[Does::Keeps(silent, Duration::from_secs(20))]);
    let asked = Arc::new(AtomicBool::new(false));
    let stop = Stop::when({
        let asked = Arc::clone(&asked);
        move || asked.load(Ordering::Relaxed)
    });
    let begun = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(300));
            asked.store(true, Ordering::Relaxed);
        });
        lab.fetch(Accept::Any, 100, &stop).unwrap_err();
    });
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}
