// Starts `colldsl lsp` for .coll files, and shows counterexamples as pages beside the text.
const fs = require("fs");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const SHOW = "colldsl.showCounterexample";
let client;

/** The page is one file that loads nothing; its scripts draw it. */
function showPage({ path }, title) {
  const panel = vscode.window.createWebviewPanel("colldsl.page", title, vscode.ViewColumn.Beside, {
    enableScripts: true,
    retainContextWhenHidden: true,
    localResourceRoots: [],
  });
  panel.webview.html = fs.readFileSync(path, "utf8");
}

async function executeCommand(command, args, next) {
  const result = await next(command, args);
  if (command === SHOW && result && result.path) {
    showPage(result, args[1]);
  }
  return result;
}

function makeClient() {
  const settings = vscode.workspace.getConfiguration("colldsl");
  // Standard input and output, as no transport is named.
  const run = { command: settings.get("path"), args: ["lsp", ...settings.get("arguments")] };
  return new LanguageClient("colldsl", "colldsl", run, {
    documentSelector: [{ language: "colldsl" }],
    initializationOptions: { opensPages: true },
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.coll") },
    middleware: { executeCommand },
  });
}

async function start() {
  client = makeClient();
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(
      `colldsl: cannot start '${vscode.workspace.getConfiguration("colldsl").get("path")} lsp': ` +
        `${error.message}. The setting colldsl.path names the program.`,
    );
  }
}

async function stop() {
  if (client && client.isRunning()) {
    await client.stop();
  }
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("colldsl.restart", async () => {
      await stop();
      await start();
    }),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("colldsl")) {
        await vscode.commands.executeCommand("colldsl.restart");
      }
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
