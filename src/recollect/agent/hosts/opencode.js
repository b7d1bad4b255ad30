// Made by `recollect install opencode`, removed by `recollect uninstall opencode`.
// Tells Recollect what happens and adds what it answers; whatever goes wrong, opencode goes on without it.
import { spawn } from "node:child_process"

const HOOK = "@HOOK@"
const PATIENCE = "@MILLISECONDS@" // ms
const LONGEST = 200000 // characters of a tool's output that are handed over

function ask(payload) {
  return new Promise((resolve) => {
    let out = ""
    let child
    const done = (text) => {
      clearTimeout(timer)
      resolve(text)
    }
    const timer = setTimeout(() => {
      child?.kill("SIGKILL")
      done("")
    }, PATIENCE)
    try {
      child = spawn(HOOK, ["opencode"], { stdio: ["pipe", "pipe", "ignore"] })
      child.on("error", () => done(""))
      child.stdin.on("error", () => {})
      child.stdout.on("data", (piece) => (out += piece))
      child.on("close", () => {
        try {
          done(JSON.parse(out || "{}").hookSpecificOutput?.additionalContext ?? "")
        } catch {
          done("")
        }
      })
      child.stdin.end(JSON.stringify(payload))
    } catch {
      done("")
    }
  })
}

export const Recollect = async ({ directory }) => {
  const sessions = new Map()
  const tell = (event, id, more) =>
    ask({ hook_event_name: event, session_id: id, cwd: directory, ...more }).catch(() => "")
  const open = async (id) => {
    let session = sessions.get(id)
    if (!session) {
      session = { briefing: "", warnings: new Map(), steps: new Map(), calls: [] }
      sessions.set(id, session)
      session.briefing = await tell("SessionStart", id, { source: "startup" })
    }
    return session
  }
  return {
    "chat.message": async (input, output) => {
      const id = input.sessionID
      await open(id)
      const parts = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      const prompt = parts.map((part) => part.text).join("\n")
      const added = await tell("UserPromptSubmit", id, { prompt, prompt_id: output.message.id })
      if (added && parts.length) {
        const part = { ...parts[0], id: `${parts[0].id}r`, text: added, synthetic: true }
        output.parts.push(part)
      }
    },
    "experimental.chat.system.transform": async (input, output) => {
      const briefing = sessions.get(input.sessionID)?.briefing // the same bytes in every call keep the prompt's cache
      if (briefing) output.system.push(briefing)
    },
    "tool.execute.before": async (input, output) => {
      const session = await open(input.sessionID)
      const call = { tool_name: input.tool, tool_input: output.args, tool_use_id: input.callID }
      session.warnings.set(input.callID, await tell("PreToolUse", input.sessionID, call))
    },
    "tool.execute.after": async (input, output) => {
      const session = await open(input.sessionID)
      const text = String(output.output ?? "").slice(0, LONGEST)
      const call = { tool_name: input.tool, tool_input: input.args, tool_use_id: input.callID, tool_response: text }
      session.calls.push(call)
      const added = await tell("PostToolUse", input.sessionID, call)
      const warning = session.warnings.get(input.callID) // opencode has no way to add it before the call
      session.warnings.delete(input.callID)
      for (const one of [warning, added]) if (one) output.output = `${output.output}\n\n${one}`
    },
    "experimental.chat.messages.transform": async (_input, output) => {
      const id = output.messages.at(-1)?.info?.sessionID
      const session = sessions.get(id)
      if (!session) return
      if (session.calls.length) {
        const calls = session.calls.splice(0)
        const added = await tell("PostToolBatch", id, { tool_calls: calls })
        if (added) session.steps.set(calls.at(-1).tool_use_id, added)
      }
      for (const message of output.messages) {
        for (const part of message.parts) {
          const step = part.type === "tool" ? session.steps.get(part.callID) : undefined
          if (step && part.state?.status === "completed" && !part.state.output.endsWith(step)) {
            part.state = { ...part.state, output: `${part.state.output}\n\n${step}` }
          }
        }
      }
    },
    "experimental.session.compacting": async (input) => {
      if (sessions.has(input.sessionID)) await tell("PreCompact", input.sessionID, { trigger: "auto" })
    },
    event: async ({ event }) => {
      const id = event.properties?.sessionID ?? event.properties?.info?.id
      if (!sessions.has(id)) return
      if (event.type === "session.compacted") {
        // what was told before is gone from the context and may be told again
        const session = sessions.get(id)
        session.briefing = (await tell("SessionStart", id, { source: "compact" })) || session.briefing
      }
      if (event.type === "session.idle") await tell("Stop", id, { stop_hook_active: false })
      if (event.type === "session.deleted") {
        sessions.delete(id)
        await tell("SessionEnd", id, { reason: "deleted" })
      }
    },
    dispose: async () => {
      await Promise.all([...sessions.keys()].map((id) => tell("SessionEnd", id, { reason: "exit" })))
    },
  }
}
