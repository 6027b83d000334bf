import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { grantCredits } from '../../server/campaigns/credits.ts'
import { prepareMandates, startApp } from '../app.ts'
import { keepTime } from '../clock.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The commands of a guide in their order, those of the sections named. */
function commands(guide: string, sections: RegExp): string[] {
  const text = readFileSync(join(root, 'docs/guides', guide), 'utf8')
  return text
    .split(/^## /m)
    .filter((section) => sections.test(section))
    .flatMap((section) => [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!))
}

/** A server with a TEST key, and one shell that runs what a reader would type. */
async function reader(t: TestContext) {
  const app = await startApp(t)
  app.clock.set(Date.now())
  keepTime(t, app.clock)
  const { orgId } = await app.given.org()
  const key = await app.given.key(orgId, { mode: 'test' })
  await app.context.db.transaction((tx) => grantCredits(tx, { orgId, mode: 'test' }, app.clock, 1000))
  const folder = mkdtempSync(join(tmpdir(), 'attestry-guide-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const npx = `npx() { shift; ${JSON.stringify(process.execPath)} ${JSON.stringify(join(root, 'cli/main.ts'))} "$@"; }`
  return {
    /** Runs the commands and answers the last JSON that they printed, and the variables that they set. */
    async type(lines: string[], variables: string[]) {
      const told = variables.map((name) => `echo "${name}=$${name}" >&2`)
      const child = spawn('bash', ['-euc', [npx, ...lines, ...told].join('\n')], {
        cwd: folder,
        env: { ...process.env, ATTESTRY_URL: app.url, ATTESTRY_KEY_ID: key.keyId, ATTESTRY_SECRET: key.secret },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let [out, err] = ['', '']
      child.stdout.on('data', (chunk) => {
        out += chunk
      })
      child.stderr.on('data', (chunk) => {
        err += chunk
      })
      const [code] = await once(child, 'close')
      assert.equal(code, 0, out + err)
      const set = Object.fromEntries([...err.matchAll(/^([A-Z]+)=(.*)$/gm)].map(([, name, value]) => [name, value]))
      return { out, set, last: JSON.parse(out.slice(out.lastIndexOf('\n{') + 1)) }
    },
    prepare: () => prepareMandates(app.context),
  }
}

test('from a job to questions, as it stands in the guide', async (t) => {
  const { type, prepare } = await reader(t)
  const guide = 'from-a-job-to-questions.md'
  const { set, last } = await type(commands(guide, /^[123]\./), ['WORKFLOW', 'MANDATE'])
  assert.ok(last.data.skills.length >= 3, 'what the job names is found')
  await prepare()
  const ids = Object.entries(set).map(([name, value]) => `${name}=${value}`)
  const retried = (block: string) => block.includes('/retry') // for a mandate that failed
  const ready = await type([...ids, ...commands(guide, /^4\./).filter((block) => !retried(block))], [])
  assert.deepEqual([ready.last.data.status, ready.last.data.title], ['ready', 'Electrician'])
  const changed = await type([...ids, ...commands(guide, /^5\./)], [])
  assert.deepEqual([changed.last.data.changed, changed.last.data.flow_version], [true, 2])
})

test('run a campaign, as it stands in the guide', async (t) => {
  const { type, prepare } = await reader(t)
  const guide = 'run-a-campaign.md'
  const { set, last } = await type(commands(guide, /^[12]\./), ['WORKFLOW', 'MANDATE'])
  assert.equal(last.data.mandate_id, set.MANDATE)
  await prepare()
  const listening = (block: string) => block.includes('attestry listen') // goes on for ever
  const rest = [
    ...Object.entries(set).map(([name, value]) => `${name}=${value}`),
    ...commands(guide, /^[34]\./).filter((block) => !listening(block)),
  ]
  const { out } = await type(rest, ['CAMPAIGN'])
  assert.match(out, /"balance": 990/)
  assert.equal(out.match(/"result_id"/g)?.length, 10)
  assert.match(out, /"enrolled": 10,/)
})
