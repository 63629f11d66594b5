//! Rendering of conversations as prompts with the chat template of a model.

use std::time::Duration;

use mind_diag::{Code, Diagnostic, SourceFile, Span};
use mind_jinja::{Arguments, Error, Template, Value, text_argument};

use crate::folder::FolderError;
use crate::strftime::strftime;

/// The chat template cannot be parsed or fails while it renders.
const CODE: Code = Code(4305);

/// The maximal number of steps of a template, so that rendering terminates.
const STEPS: u64 = 4_000_000;

/// The role of a message's author.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Speaker {
    /// Instructions for the whole conversation.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
}

impl Speaker {
    /// Returns the role's name in templates.
    const fn role(self) -> &'static str {
        match self {
            Speaker::System => "system",
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
        }
    }
}

/// A message of a conversation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// The author.
    pub speaker: Speaker,
    /// The text.
    pub content: String,
}

/// The chat template of a model: Jinja with the functions that the templates of models use.
pub struct ChatTemplate {
    template: Template,
    file: SourceFile,
    /// Special tokens, by name.
    tokens: Vec<(&'static str, String)>,
    /// The time that `strftime_now` formats, since 1970-01-01 UTC. If it is `None`, a template that calls
    /// `strftime_now` fails.
    pub now: Option<Duration>,
}

impl ChatTemplate {
    /// Parses the template in `file`, which may refer to the special `tokens` by their names.
    ///
    /// # Errors
    ///
    /// E4305: the text is not a valid template; the error has its position.
    pub fn new(
        file: SourceFile,
        tokens: Vec<(&'static str, String)>,
    ) -> Result<ChatTemplate, FolderError> {
        match Template::parse(file.text()) {
            Ok(template) => Ok(ChatTemplate {
                template,
                file,
                tokens,
                now: None,
            }),
            Err(why) => Err(refused(&file, &why)),
        }
    }

    /// Renders `messages` as the prompt for the next answer of the model.
    ///
    /// # Errors
    ///
    /// E4305: the template rejects the messages or fails; the error has its position in the template.
    pub fn prompt(&self, messages: &[Message]) -> Result<String, FolderError> {
        let text = |text: &str| Value::from(text);
        let messages = messages.iter().map(|message| {
            let role = (text("role"), text(message.speaker.role()));
            let content = (text("content"), text(&message.content));
            Value::dict([role, content])
        });
        let mut variables = vec![
            ("messages", Value::list(messages)),
            ("add_generation_prompt", Value::from(true)),
            ("tools", Value::None),
            ("documents", Value::None),
            ("strftime_now", self.clock()),
            (
                "raise_exception",
                Value::function("raise_exception", raise_exception),
            ),
        ];
        let tokens = self.tokens.iter();
        variables.extend(tokens.map(|(name, token)| (*name, text(token))));
        let prompt = self.template.render(variables, STEPS);
        prompt.map_err(|why| refused(&self.file, &why))
    }
}

impl ChatTemplate {
    /// Returns the function `strftime_now`.
    fn clock(&self) -> Value {
        let now = self.now;
        Value::function("strftime_now", move |arguments| {
            let [format] = arguments.bind("strftime_now", ["format"], 1)?;
            let format = format.unwrap_or(Value::None);
            let format = text_argument("format", &format)?;
            match now {
                Some(now) => strftime(now, format).map(Value::from),
                None => Err(Error::new(
                    "`strftime_now` needs the current time, which is not given",
                )),
            }
        })
    }
}

/// The function `raise_exception`, with which a template rejects a conversation.
fn raise_exception(arguments: Arguments) -> Result<Value, Error> {
    let [message] = arguments.bind("raise_exception", ["message"], 1)?;
    let message = message.unwrap_or(Value::None);
    Err(Error::new(text_argument("message", &message)?))
}

/// Returns an error of the template at its position.
fn refused(file: &SourceFile, why: &Error) -> FolderError {
    let span = why.range().map_or(Span::FILE, |range| {
        Span::new(range.start as u32, range.end as u32)
    });
    let problem = why.message();
    let message = format!("the chat template failed: {problem}");
    let found = Diagnostic::error(span, message).code(CODE);
    FolderError::Text(found.into(), Box::new(file.clone()))
}

#[cfg(test)]
mod tests {
    use mind_diag::render_text;

    use super::*;

    fn template(text: &str) -> Result<ChatTemplate, FolderError> {
        let tokens = vec![
            ("bos_token", "<s>".to_owned()),
            ("eos_token", "</s>".to_owned()),
        ];
        ChatTemplate::new(SourceFile::new("t.jinja", text), tokens)
    }

    fn said(speaker: Speaker, content: &str) -> Message {
        let content = content.to_owned();
        Message { speaker, content }
    }

    fn prompt(text: &str, messages: &[Message]) -> String {
        template(text)
            .and_then(|own| own.prompt(messages))
            .expect("a prompt")
    }

    fn refusal(text: &str, messages: &[Message]) -> String {
        let refused = template(text).and_then(|own| own.prompt(messages));
        let (found, file) = refused
            .expect_err("a refusal")
            .diagnostics()
            .expect("a place");
        render_text(&found, &file.expect("a file"), false)
    }

    #[test]
    fn a_conversation_is_written_as_its_template_says() {
        let messages = [
            said(Speaker::System, "Be brief."),
            said(Speaker::User, " Hi "),
            said(Speaker::Assistant, "Hello<end>x"),
            said(Speaker::User, "Bye"),
        ];
        let text = "{{ bos_token }}
{%- if messages[0]['role'] == 'system' %}
    {%- set system = messages[0]['content'] | trim + '\\n' %}
    {%- set messages = messages[1:] %}
{%- else %}{% set system = '' %}{% endif %}
{% for message in messages %}
  {% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
    {{ raise_exception('turns must alternate') }}
  {% endif %}
[{{ message.role }}]{{ (system if loop.first else '') + message['content'].strip().split('<end>')[0] }}{{ eos_token }}
  {% if loop.last and add_generation_prompt and not tools %}
[assistant]
  {%- endif %}
{% endfor %}
";
        let expected =
            "<s>[user]Be brief.\nHi</s>\n[assistant]Hello</s>\n[user]Bye</s>\n[assistant]";
        assert_eq!(prompt(text, &messages), expected);
    }

    #[test]
    fn what_the_assistant_says_may_be_marked() {
        let text = "{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% else %}\
                    {% generation %}{{ m.content }}{{ eos_token }}{% endgeneration %}{% endif %}{% endfor %}";
        let messages = [said(Speaker::User, "a"), said(Speaker::Assistant, "b")];
        assert_eq!(prompt(text, &messages), "ab</s>");
    }

    #[test]
    fn messages_are_written_as_json() {
        let messages = [said(Speaker::User, "a \"b\" é")];
        let text = "{% for message in messages %}{{ message.content | tojson }} {{ message | tojson(sort_keys=true) }}\
                    {% endfor %} {{ tools | tojson }}";
        let expected = r#""a \"b\" é" {"content": "a \"b\" é", "role": "user"} null"#;
        assert_eq!(prompt(text, &messages), expected);
    }

    #[test]
    fn the_time_is_the_one_that_is_given() {
        let text =
            "Today is {{ strftime_now('%d %b %Y') }}.{% set now = strftime_now %}{{ now('%H') }}";
        let mut own = template(text).expect("a template");
        assert!(
            refusal(text, &[])
                .contains("`strftime_now` needs the current time, which is not given")
        );
        own.now = Some(Duration::from_secs(1_709_211_909));
        assert_eq!(
            own.prompt(&[]).expect("a prompt"),
            "Today is 29 Feb 2024.13"
        );
        own = template("{{ 'a' if strftime_now is defined else 'b' }}{{ strftime_now('%Q') }}")
            .expect("a template");
        own.now = Some(Duration::ZERO);
        let why = own.prompt(&[]).expect_err("a refusal").to_string();
        assert!(why.contains("strftime_now has no `%Q`"), "{why}");
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        mind_snapshot::snapshot!(
            [
                refusal("{% for m in messages %}\n{{ m.role }\n", &[]),
                refusal("a\n{{ messages | nothing }}", &[]),
                refusal(
                    "{% macro f(m) %}{{ raise_exception('no ' + m.role) }}{% endmacro %}\n{{ f(messages[0]) }}",
                    &[said(Speaker::System, "")],
                ),
                refusal("{{ messages[0].content.x.y }}", &[said(Speaker::User, "")]),
            ]
            .concat()
        );
    }

    #[test]
    fn a_template_has_an_end() {
        let text =
            "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}";
        assert!(refusal(text, &[]).contains("more than 4000000 steps"));
        let text = "{% set x = namespace(t='ab') %}{% for a in range(99) %}{% set x.t = x.t + x.t %}{% endfor %}";
        assert!(refusal(text, &[]).contains("error[E4305]"));
        let text = "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}";
        assert!(refusal(text, &[]).contains("error[E4305]"));
    }
}
