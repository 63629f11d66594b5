//! The main loop of the server.

use std::collections::BTreeMap;
use std::error::Error;

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, Notification as _,
    PublishDiagnostics,
};
use lsp_types::request::{
    CodeActionRequest, Completion, DocumentHighlightRequest, DocumentSymbolRequest,
    FoldingRangeRequest, Formatting, GotoDefinition, HoverRequest, InlayHintRequest,
    PrepareRenameRequest, References, Rename, Request as Method, SemanticTokensFullRequest,
    SemanticTokensRangeRequest, SignatureHelpRequest, WorkspaceSymbolRequest,
};
use lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    GotoDefinitionResponse, Position, PublishDiagnosticsParams, Uri, WorkspaceSymbol,
    WorkspaceSymbolResponse,
};
use mind_driver::session::Session;
use serde_json::json;

use crate::capabilities::capabilities;
use crate::document::Document;
use crate::language::Language;
use crate::refusal::Refusal;
use crate::view::View;
use crate::{
    actions, complete, diagnostics, format, hover, inlay, rename, signature, symbols, tokens,
};

/// Serves a connection until the editor exits.
///
/// # Errors
///
/// A message violates the protocol; the editor exits without a shutdown request.
pub fn serve(connection: &Connection) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (id, _) = connection.initialize_start()?;
    let about = json!({ "name": "mind-lsp", "version": env!("CARGO_PKG_VERSION") });
    let answer = json!({ "capabilities": capabilities(), "serverInfo": about });
    connection.initialize_finish(id, answer)?;
    let mut server = Server {
        session: Session::default(),
        documents: BTreeMap::new(),
    };
    loop {
        let message = match connection.receiver.try_recv() {
            Ok(message) => message,
            Err(_) => {
                // No message is pending, so there is time to analyse changed documents.
                server.publish(connection)?;
                match connection.receiver.recv() {
                    Ok(message) => message,
                    Err(_) => return Err("the editor left without `shutdown`".into()),
                }
            }
        };
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request)? {
                    return Ok(());
                }
                let response = server.answer(request);
                connection.sender.send(Message::Response(response))?;
            }
            Message::Notification(note) if note.method == "exit" => {
                return Err("the editor left without `shutdown`".into());
            }
            Message::Notification(note) => {
                if let Some(answer) = server.note(note) {
                    connection.sender.send(Message::Notification(answer))?;
                }
            }
            Message::Response(_) => {}
        }
    }
}

struct Server {
    session: Session,
    /// The open documents by URI.
    documents: BTreeMap<String, (Uri, Document)>,
}

impl Server {
    /// Handles a notification. Returns a notification to send, if any.
    fn note(&mut self, note: Notification) -> Option<Notification> {
        match note.method.as_str() {
            DidOpenTextDocument::METHOD => {
                let params: DidOpenTextDocumentParams = read(note)?;
                let opened = params.text_document;
                let hint = Language::of(&opened.language_id, opened.uri.as_str());
                let document = Document::new(hint, opened.version, opened.text);
                let key = opened.uri.as_str().to_owned();
                self.documents.insert(key, (opened.uri, document));
            }
            DidChangeTextDocument::METHOD => {
                let params: DidChangeTextDocumentParams = read(note)?;
                let changed = params.text_document;
                let (_, document) = self.documents.get_mut(changed.uri.as_str())?;
                document.change(changed.version, params.content_changes);
            }
            DidCloseTextDocument::METHOD => {
                let params: DidCloseTextDocumentParams = read(note)?;
                let uri = params.text_document.uri;
                self.documents.remove(uri.as_str())?;
                return Some(published(PublishDiagnosticsParams::new(
                    uri,
                    Vec::new(),
                    None,
                )));
            }
            _ => {}
        }
        None
    }

    /// Sends the diagnostics of changed documents.
    fn publish(&mut self, connection: &Connection) -> Result<(), Box<dyn Error + Send + Sync>> {
        for (uri, document) in self.documents.values_mut() {
            if !document.take_unpublished() {
                continue;
            }
            document.analyse(&self.session);
            let Some(view) = view(&self.session, document) else {
                continue;
            };
            let found = diagnostics::all(view, uri);
            let params = PublishDiagnosticsParams::new(uri.clone(), found, Some(document.version));
            connection
                .sender
                .send(Message::Notification(published(params)))?;
        }
        Ok(())
    }

    fn answer(&mut self, request: Request) -> Response {
        match request.method.as_str() {
            HoverRequest::METHOD => self.on::<HoverRequest>(request, |server, params| {
                let place = params.text_document_position_params;
                let (view, offset) = server.at(&place.text_document.uri, place.position)?;
                Ok(hover::hover(view, offset))
            }),
            GotoDefinition::METHOD => self.on::<GotoDefinition>(request, |server, params| {
                let place = params.text_document_position_params;
                let (view, offset) = server.at(&place.text_document.uri, place.position)?;
                let found = symbols::definition(view, offset, &place.text_document.uri);
                Ok(found.map(GotoDefinitionResponse::Scalar))
            }),
            References::METHOD => self.on::<References>(request, |server, params| {
                let place = params.text_document_position;
                let (view, offset) = server.at(&place.text_document.uri, place.position)?;
                let declaration = params.context.include_declaration;
                let uri = &place.text_document.uri;
                Ok(Some(symbols::references(view, offset, declaration, uri)))
            }),
            DocumentHighlightRequest::METHOD => {
                self.on::<DocumentHighlightRequest>(request, |server, params| {
                    let place = params.text_document_position_params;
                    let (view, offset) = server.at(&place.text_document.uri, place.position)?;
                    Ok(Some(symbols::highlights(view, offset)))
                })
            }
            DocumentSymbolRequest::METHOD => {
                self.on::<DocumentSymbolRequest>(request, |server, params| {
                    let view = server.view(&params.text_document.uri)?;
                    Ok(Some(symbols::outline(view).into()))
                })
            }
            WorkspaceSymbolRequest::METHOD => {
                self.on::<WorkspaceSymbolRequest>(request, |server, params| {
                    let found = server.matching(&params.query);
                    Ok(Some(WorkspaceSymbolResponse::Nested(found)))
                })
            }
            FoldingRangeRequest::METHOD => {
                self.on::<FoldingRangeRequest>(request, |server, params| {
                    let view = server.view(&params.text_document.uri)?;
                    Ok(Some(symbols::folding(view)))
                })
            }
            PrepareRenameRequest::METHOD => {
                self.on::<PrepareRenameRequest>(request, |server, place| {
                    let (view, offset) = server.at(&place.text_document.uri, place.position)?;
                    rename::prepare(view, offset).map(Some)
                })
            }
            Rename::METHOD => self.on::<Rename>(request, |server, params| {
                let place = params.text_document_position;
                let uri = place.text_document.uri;
                let (view, offset) = server.at(&uri, place.position)?;
                rename::rename(view, offset, &params.new_name, &uri).map(Some)
            }),
            Completion::METHOD => self.on::<Completion>(request, |server, params| {
                let place = params.text_document_position;
                let (view, offset) = server.at(&place.text_document.uri, place.position)?;
                Ok(Some(complete::items(view, offset).into()))
            }),
            SignatureHelpRequest::METHOD => {
                self.on::<SignatureHelpRequest>(request, |server, params| {
                    let place = params.text_document_position_params;
                    let (view, offset) = server.at(&place.text_document.uri, place.position)?;
                    Ok(signature::help(view, offset))
                })
            }
            InlayHintRequest::METHOD => self.on::<InlayHintRequest>(request, |server, params| {
                let view = server.view(&params.text_document.uri)?;
                Ok(Some(inlay::hints(view, params.range)))
            }),
            CodeActionRequest::METHOD => self.on::<CodeActionRequest>(request, |server, params| {
                let uri = params.text_document.uri;
                let view = server.view(&uri)?;
                Ok(Some(actions::actions(view, params.range, &uri)))
            }),
            Formatting::METHOD => self.on::<Formatting>(request, |server, params| {
                let view = server.view(&params.text_document.uri)?;
                format::format(view).map(Some)
            }),
            SemanticTokensFullRequest::METHOD => {
                self.on::<SemanticTokensFullRequest>(request, |server, params| {
                    let view = server.view(&params.text_document.uri)?;
                    Ok(Some(tokens::all(view).into()))
                })
            }
            SemanticTokensRangeRequest::METHOD => {
                self.on::<SemanticTokensRangeRequest>(request, |server, params| {
                    let view = server.view(&params.text_document.uri)?;
                    Ok(Some(tokens::within(view, params.range).into()))
                })
            }
            method => {
                let message = format!("`{method}` is not offered");
                Response::new_err(request.id, ErrorCode::MethodNotFound as i32, message)
            }
        }
    }

    /// Handles a request of the protocol's method `M`.
    fn on<M: Method>(
        &mut self,
        request: Request,
        run: impl FnOnce(&mut Server, M::Params) -> Result<M::Result, Refusal>,
    ) -> Response {
        let Request { id, params, .. } = request;
        let params = serde_json::from_value(params)
            .map_err(|error| Refusal::invalid(format!("wrong parameters: {error}")));
        respond(id, params.and_then(|params| run(self, params)))
    }

    /// Returns the declarations of open documents that match `query`.
    fn matching(&mut self, query: &str) -> Vec<WorkspaceSymbol> {
        let mut found = Vec::new();
        for (uri, document) in self.documents.values_mut() {
            document.analyse(&self.session);
            if let Some(view) = view(&self.session, document) {
                found.extend(symbols::matching(view, query, uri));
            }
        }
        found
    }

    /// Returns an open document with its analysis.
    fn view(&mut self, uri: &Uri) -> Result<View<'_>, Refusal> {
        let unknown = || Refusal::invalid(format!("no document `{}` is open", uri.as_str()));
        let (_, document) = self.documents.get_mut(uri.as_str()).ok_or_else(unknown)?;
        document.analyse(&self.session);
        view(&self.session, document).ok_or_else(unknown)
    }

    /// Returns an open document with its analysis, and an offset in it.
    fn at(&mut self, uri: &Uri, position: Position) -> Result<(View<'_>, usize), Refusal> {
        let view = self.view(uri)?;
        let offset = view.document.lines.offset(view.text(), position);
        Ok((view, offset))
    }
}

fn view<'v>(session: &'v Session, document: &'v Document) -> Option<View<'v>> {
    let analysis = document.analysis()?;
    Some(View {
        session,
        document,
        analysis,
    })
}

fn respond<R: serde::Serialize>(id: RequestId, answer: Result<R, Refusal>) -> Response {
    match answer {
        Ok(result) => Response::new_ok(id, result),
        Err(refusal) => Response::new_err(id, refusal.code, refusal.message),
    }
}

/// Returns the parameters of a notification; `None` if they are invalid, because notifications have no response.
fn read<P: serde::de::DeserializeOwned>(note: Notification) -> Option<P> {
    serde_json::from_value(note.params).ok()
}

fn published(params: PublishDiagnosticsParams) -> Notification {
    Notification::new(PublishDiagnostics::METHOD.to_owned(), params)
}
