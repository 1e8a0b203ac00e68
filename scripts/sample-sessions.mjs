// Writes two made-up sessions, as Claude Code would, into a Claude home. usage: node sample-sessions.mjs CLAUDE_HOME
//
// The story: a shop sends some invoices twice. The first session finds out why, the second one ships the fix.
// What the user wants to keep is marked with ##keepit##.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const claudeHome = process.argv[2]
if (!claudeHome) {
  console.error('usage: node sample-sessions.mjs CLAUDE_HOME')
  process.exit(2)
}

const cwd = '/home/ada/code/invoice-worker'
const folder = join(claudeHome, 'projects', cwd.replace(/[^A-Za-z0-9]/g, '-'))
mkdirSync(folder, { recursive: true })

/** Collects the records of one session, chained as the client chains them. */
class Transcript {
  constructor(sessionId, start, branch, title) {
    Object.assign(this, { sessionId, branch, clock: Date.parse(start), parent: null, count: 0, records: [] })
    this.records.push({ type: 'custom-title', customTitle: title, sessionId })
  }

  id() {
    this.count += 1
    return `${String(this.count).padStart(8, '0')}-${this.sessionId.slice(9)}`
  }

  push(type, message, seconds, more = {}) {
    this.clock += seconds * 1000
    const uuid = this.id()
    this.records.push({
      parentUuid: this.parent, isSidechain: false, userType: 'external', cwd, sessionId: this.sessionId, version: '2.1.0',
      gitBranch: this.branch, type, message, uuid, timestamp: new Date(this.clock).toISOString(), ...more,
    })
    this.parent = uuid
  }

  user(text) {
    this.push('user', { role: 'user', content: text }, 40)
  }

  assistant(...content) {
    const tokens = Math.ceil(JSON.stringify(content).length / 4)
    this.push('assistant', {
      id: `msg_${this.sessionId.slice(0, 8)}${this.count}`, type: 'message', role: 'assistant', model: 'claude-sonnet-4-5-20250929', content,
      usage: { input_tokens: 1200, output_tokens: tokens, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
    }, 8)
  }

  say(text) {
    this.assistant({ type: 'text', text })
  }

  tool(name, input, output, isError = false) {
    const id = `toolu_${this.sessionId.slice(0, 8)}${this.count}`
    this.assistant({ type: 'tool_use', id, name, input })
    this.push('user', { role: 'user', content: [{ tool_use_id: id, type: 'tool_result', content: output, is_error: isError }] }, 3, { toolUseResult: output })
  }

  write() {
    const path = join(folder, `${this.sessionId}.jsonl`)
    writeFileSync(path, this.records.map((record) => JSON.stringify(record)).join('\n') + '\n')
    console.log(path)
  }
}

const CODE = [
  'export async function run(job: Job): Promise<void> {', '  const invoice = await load(job.invoiceId)', "  if (invoice === undefined) throw new Missing('invoice')",
  '  const customer = await customers.find(invoice.customerId)', '  const document = render(invoice, customer)', '  await archive.put(document)', '  for (const line of invoice.lines) {',
  '    total += line.amount * line.price', '  }', '  log.info({ invoice: invoice.id, total })', '  return', '}', '',
]

/** A file as the client numbers it: plain code that repeats itself, as files of one kind do. */
const source = (name, lines) =>
  Array.from({ length: lines }, (_, line) => `${String(line + 1).padStart(5)}→${line === 0 ? `// ${name}` : CODE[line % CODE.length]}`).join('\n')

/** What a test runner prints. */
const passed = (count) => Array.from({ length: count }, (_, test) => `ok ${test + 1} - invoice ${test % 7}`).join('\n')

const cause = new Transcript('5a3e9c10-2b74-4d1f-9a60-0c8d7e41b201', '2026-01-19T09:12:00Z', 'fix/double-invoices', 'Find out why invoices go out twice')
cause.user('Since Friday some customers get the same invoice twice. Find out why before you change anything. The worker is in src/worker.ts.')
cause.say('I will look at how the worker takes jobs, then at how it marks an invoice as sent.')
cause.tool('Read', { file_path: `${cwd}/src/worker.ts` }, source('worker.ts', 180))
cause.tool('Grep', { pattern: 'markSent', path: `${cwd}/src` }, 'src/worker.ts:88: await ledger.markSent(invoice.id)\nsrc/retry.ts:31: await ledger.markSent(invoice.id)')
cause.say('The worker sends first and marks afterwards. When the process is killed between the two, the job is taken again and the invoice goes out a second time.')
cause.user('##keepit0.90##Decision: an invoice is claimed in the ledger BEFORE it is sent (state `sending`, with the id of the attempt), and a claim older than ten minutes is looked at by a human, never sent again on its own.')
cause.say('Understood: at most once, and a stuck claim is a case for a person. I will check who else sends.')
for (let round = 1; round <= 9; round += 1) {
  cause.tool('Read', { file_path: `${cwd}/src/senders/sender_${round}.ts` }, source(`sender_${round}.ts`, 60 + round * 9))
  cause.say(`Sender ${round} goes through the worker, so the claim covers it. It retries ${round + 1} times with a pause of ${round * 100} ms; nothing there writes to the ledger.`)
  if (round === 4) {
    cause.user('##keepit0.25##By the way, sender 4 is only used by the old shop in Graz and will be switched off in spring.')
    cause.say('Noted. I leave it as it is.')
  }
}
cause.tool('Bash', { command: 'npm test -- retry' }, `Exit code 1\n${passed(37)}\nError: expected 1 invoice, got 2\n    at retry.test.ts:52:14\nTests: 1 failed, 37 passed`, true)
cause.say('A test shows it now: killing the worker after `send` and before `markSent` gives two invoices. The cause is found: the order of these two calls in src/worker.ts, lines 86 to 88.')
cause.user('##keepit0.75##Keep the failing test (retry.test.ts:52) as it is: it is the proof, and it must pass without being edited.')
cause.say('I keep it unchanged. Next comes the fix on the same branch.')
cause.write()

const fix = new Transcript('b81f02d4-77c5-4e0a-8f13-5d9a6c20e902', '2026-01-20T13:40:00Z', 'fix/double-invoices', 'Claim invoices before sending')
fix.user('Yesterday we found the cause. Now make the change: claim first, then send.')
fix.tool('Edit', { file_path: `${cwd}/src/worker.ts`, old_string: 'await send(invoice)\nawait ledger.markSent(invoice.id)', new_string: 'const claim = await ledger.claim(invoice.id, attempt)\nif (!claim.won) return\nawait send(invoice)\nawait ledger.markSent(invoice.id, claim)' }, 'The file src/worker.ts has been updated.')
fix.tool('Bash', { command: 'npm test' }, `${passed(38)}\nTests: 38 passed, 38 total\nTime: 4.2 s`)
fix.say('The proof passes without being edited, and so do the other 37 tests. `ledger.claim` is one conditional update, so two workers cannot both win.')
fix.user('##keepit0.80##The conditional update needs the index `ledger_invoice_state`; without it the claim takes 400 ms at month end. The migration must run before the deploy.')
fix.say('I added migration 0042 with that index, and a check at the start that refuses to run without it.')
fix.user('Good. What is left?')
fix.say('Two things: an alert for claims older than ten minutes, and the runbook page for the person who gets it. Both are small.')
fix.write()
