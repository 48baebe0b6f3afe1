-- What a user of Neovim does: opens a file, waits for diagnostics, hovers, renames, formats, opens a picture.
-- nvim --headless --clean -c 'luafile neovim.lua' with COLLDSL_PROGRAM, COLLDSL_FILE. Writes what it sees as JSON
-- lines to COLLDSL_LOG.
local seconds = tonumber(os.getenv("COLLDSL_LSP_SECONDS") or "120")
local log = io.open(os.getenv("COLLDSL_LOG"), "w")

local function note(name, value)
  log:write(vim.fn.json_encode({ name, value }), "\n")
  log:flush()
end

local function wait(what, condition)
  if not vim.wait(seconds * 1000, condition, 20) then
    note("timeout", what)
    vim.cmd("cquit 1")
  end
end

local function main()
  vim.cmd("edit " .. os.getenv("COLLDSL_FILE"))
  vim.bo.filetype = "colldsl"
  local id = vim.lsp.start_client({
    name = "colldsl",
    cmd = { os.getenv("COLLDSL_PROGRAM"), "lsp", "--ranks", "1..3", "--bytes", "4" },
    root_dir = vim.fn.getcwd(),
  })
  vim.lsp.buf_attach_client(0, id)
  local client = vim.lsp.get_client_by_id(id)
  wait("initialize", function() return client.initialized end)

  local function request(method, params)
    local answer = vim.lsp.buf_request_sync(0, method, params, seconds * 1000)
    return answer and answer[id]
  end
  local function at(pattern)
    vim.fn.cursor(1, 1)
    assert(vim.fn.search(pattern, "c") > 0, pattern)
  end
  local function messages()
    return vim.tbl_map(function(d) return d.message end, vim.diagnostic.get(0))
  end

  wait("a diagnostic", function() return #vim.diagnostic.get(0) > 0 end)
  local first = vim.diagnostic.get(0)[1]
  note("diagnostic", { first.lnum, first.col, first.end_col, first.message })

  at("dta")
  local fixes = request("textDocument/codeAction", (function()
    local params = vim.lsp.util.make_range_params()
    params.context = { diagnostics = {} }
    return params
  end)())
  vim.lsp.util.apply_workspace_edit(fixes.result[1].edit, client.offset_encoding)
  wait("the failed proof", function()
    return #messages() > 0 and messages()[1]:match("fails at") ~= nil
  end)
  note("proof", messages())

  at("next;")
  note("hover", request("textDocument/hover", vim.lsp.util.make_position_params()).result.contents.value)
  at("bcast_kary")
  note("definition", request("textDocument/definition", vim.lsp.util.make_position_params()).result.uri)

  at("next =")
  vim.lsp.buf.rename("följande")
  vim.wait(500)
  note("refused", vim.api.nvim_buf_get_lines(0, 0, -1, false))
  vim.lsp.buf.rename("following")
  wait("the new name", function()
    return vim.fn.search("following;", "n") > 0
  end)
  note("renamed", vim.api.nvim_buf_get_lines(0, 0, -1, false))

  local format = request("textDocument/formatting", vim.lsp.util.make_formatting_params())
  vim.lsp.util.apply_text_edits(format.result, vim.api.nvim_get_current_buf(), client.offset_encoding)
  note("formatted", vim.api.nvim_buf_get_lines(0, 0, -1, false))

  local picture
  for _ = 1, seconds * 10 do
    local lenses = request("textDocument/codeLens", { textDocument = vim.lsp.util.make_text_document_params() })
    for _, lens in ipairs(lenses.result or {}) do
      picture = picture or (lens.command.command ~= "" and lens.command)
    end
    if picture then break end
    vim.wait(100)
  end
  note("lens", picture.title)
  local shown = request("workspace/executeCommand", { command = picture.command, arguments = picture.arguments })
  note("page", vim.fn.filereadable(shown.result.path))

  client.stop()
  wait("the end", function() return client.is_stopped() end)
  note("end", true)
end

local fine, why = pcall(main)
if not fine then note("error", tostring(why)) end
vim.cmd(fine and "qall!" or "cquit 1")
