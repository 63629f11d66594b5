/** The client: starts `mind-lsp` and gives it the documents of its languages. */

import { ExtensionContext, window, workspace } from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions, TransportKind } from "vscode-languageclient/node";

/** The languages of `package.json`. */
const LANGUAGES = ["mind-mic", "mind-mic2", "mind-core", "mil", "mind-rules"];

let client: LanguageClient | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  await start();
  const changed = workspace.onDidChangeConfiguration(async (change) => {
    if (change.affectsConfiguration("mind.server.path")) {
      await deactivate();
      await start();
    }
  });
  context.subscriptions.push(changed);
}

export async function deactivate(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function start(): Promise<void> {
  const command = workspace.getConfiguration("mind").get<string>("server.path") || "mind-lsp";
  const server: ServerOptions = { command, transport: TransportKind.stdio };
  const options: LanguageClientOptions = {
    documentSelector: LANGUAGES.map((language) => ({ language })),
  };
  client = new LanguageClient("mind", "MIND", server, options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    window.showErrorMessage(
      `The language server \`${command}\` does not start: ${error}. ` +
        "Install it with `cargo install --path tools/mind-lsp`, or set `mind.server.path`.",
    );
  }
}
