//! A minimal editor.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// A running server and the connection to it.
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    notes: VecDeque<Value>,
    next: i64,
    /// The capabilities of the server.
    pub capabilities: Value,
}

/// Timeout of a response, longer than any machine needs.
const PATIENCE: Duration = Duration::from_secs(120);

impl Client {
    /// Starts the server and initialises it.
    pub fn start() -> Client {
        let mut client = Client::spawn();
        let answer = client.request(
            "initialize",
            json!({ "processId": null, "rootUri": null, "capabilities": {} }),
        );
        client.capabilities = answer["capabilities"].clone();
        client.notify("initialized", json!({}));
        client
    }

    /// Starts the server without sending a message.
    pub fn spawn() -> Client {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mind-lsp"))
            .arg("--stdio")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut output = BufReader::new(child.stdout.take().expect("its output"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Client {
            input: child.stdin.take(),
            child,
            messages,
            notes: VecDeque::new(),
            next: 0,
            capabilities: Value::Null,
        }
    }

    /// Sends a request and returns its result.
    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        match self.ask(method, params) {
            Ok(result) => result,
            Err(error) => panic!("{method}: {error}"),
        }
    }

    /// Sends a request and returns its error message.
    #[track_caller]
    pub fn refusal(&mut self, method: &str, params: Value) -> String {
        match self.ask(method, params) {
            Ok(result) => panic!("{method} gave {result}"),
            Err(error) => error["message"].as_str().expect("a message").to_owned(),
        }
    }

    /// Sends a request and returns its result or its error.
    pub fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.next += 1;
        let id = self.next;
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.receive();
            if message.get("id").is_none() {
                self.notes.push_back(message);
                continue;
            }
            assert_eq!(message["id"], id, "answers come in order");
            return match message.get("error") {
                Some(error) => Err(error.clone()),
                None => Ok(message["result"].clone()),
            };
        }
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Opens a document and returns its diagnostics.
    pub fn open(&mut self, uri: &str, language: &str, text: &str) -> Vec<Value> {
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        self.diagnostics(uri, 1)
    }

    /// Replaces the text between two positions (line and column each) and returns the new diagnostics.
    pub fn edit(&mut self, uri: &str, version: i64, range: [u32; 4], text: &str) -> Vec<Value> {
        let [line, column, end_line, end_column] = range;
        let range = json!({
            "start": { "line": line, "character": column },
            "end": { "line": end_line, "character": end_column },
        });
        self.notify(
            "textDocument/didChange",
            json!({
                "textDocument": { "uri": uri, "version": version },
                "contentChanges": [{ "range": range, "text": text }],
            }),
        );
        self.diagnostics(uri, version)
    }

    /// Waits for the diagnostics of a version of a document.
    pub fn diagnostics(&mut self, uri: &str, version: i64) -> Vec<Value> {
        loop {
            let note = match self.notes.pop_front() {
                Some(note) => note,
                None => self.receive(),
            };
            let params = &note["params"];
            let is_it = note["method"] == "textDocument/publishDiagnostics"
                && params["uri"] == uri
                && params["version"] == version;
            if is_it {
                return params["diagnostics"].as_array().expect("a list").clone();
            }
        }
    }

    /// Shuts the server down and returns its exit code.
    pub fn leave(mut self) -> Option<i32> {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        self.wait().code()
    }

    /// Closes the server's input and waits for it to exit.
    pub fn wait(&mut self) -> ExitStatus {
        self.input = None;
        self.child.wait().expect("the server ends")
    }

    /// Sends arbitrary bytes.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the server listens");
        input.write_all(bytes).expect("the server reads");
        input.flush().expect("the server reads");
    }

    fn send(&mut self, message: Value) {
        let text = message.to_string();
        let framed = format!("Content-Length: {}\r\n\r\n{text}", text.len());
        self.send_bytes(framed.as_bytes());
    }

    fn receive(&mut self) -> Value {
        let message = self.messages.recv_timeout(PATIENCE);
        message.expect("the server says something")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().ok(),
            Some(_) => {}
            None => break,
        }
    }
    let mut bytes = vec![0; length?];
    output.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}
