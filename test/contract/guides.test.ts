import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { grantCredits } from '../../server/campaigns/credits.ts'
import { ADMIN_KEY, prepareMandates, startApp } from '../support/app.ts'
import { keepTime } from '../support/clock.ts'
import { partner } from '../support/partner.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The sections of a guide whose heading fits, one after the other. */
function section(guide: string, headings: RegExp): string {
  const text = readFileSync(join(root, 'docs/guides', guide), 'utf8')
  return text
    .split(/^## /m)
    .filter((part) => headings.test(part))
    .join('')
}

/** Their commands. */
function commands(guide: string, headings: RegExp): string[] {
  return [...section(guide, headings).matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!)
}

/** A server with a TEST key, and one shell that runs what a reader would type. */
async function reader(t: TestContext) {
  const app = await startApp(t)
  app.clock.set(Date.now())
  keepTime(t, app.clock)
  const { orgId } = await app.given.org()
  const { databaseUrl, masterKey } = app.context.config
  // Who types is slower than the limits of a TEST key; a machine that pastes may not be.
  const { key } = await partner(app, 'test', orgId)
  await app.context.db.transaction((tx) => grantCredits(tx, { orgId, mode: 'test' }, app.clock, 1000))
  const folder = mkdtempSync(join(tmpdir(), 'attestry-guide-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, '.attestry'))
  writeFileSync(join(folder, '.attestry/admin-api-key'), ADMIN_KEY)
  const npx = `npx() { shift; ${JSON.stringify(process.execPath)} ${JSON.stringify(join(root, 'cli/main.ts'))} "$@"; }`
  return {
    /** Runs the commands and answers the last JSON that they printed, and the variables that they set. */
    async type(lines: string[], variables: string[]) {
      const told = variables.map((name) => `echo "${name}=$${name}" >&2`)
      const script = [npx, ...lines, ...told].join('\n').replaceAll('http://127.0.0.1:8080', app.url)
      const child = spawn('bash', ['-euc', script], {
        cwd: folder,
        env: {
          ...process.env,
          ...{ ATTESTRY_URL: app.url, ATTESTRY_KEY_ID: key.keyId, ATTESTRY_SECRET: key.secret },
          ...{ DATABASE_URL: databaseUrl, MASTER_KEY: masterKey!.toString('base64'), ADMIN_API_KEY: ADMIN_KEY },
          TMPDIR: folder, // what mktemp makes goes with it
        },
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
      return {
        out,
        set,
        get last() {
          return JSON.parse(out.slice(out.lastIndexOf('\n{') + 1))
        },
      }
    },
    prepare: () => prepareMandates(app.context),
  }
}

test('from a job to questions, as it stands in the guide', async (t) => {
  const { type, prepare } = await reader(t)
  const guide = 'from-a-job-to-questions.md'
  const { set, last } = await type(commands(guide, /^[123]\./), ['WORKFLOW', 'MANDATE', 'FOLDER'])
  assert.ok(last.data.skills.length >= 3, 'what the job names is found')
  await prepare()
  const ids = Object.entries(set).map(([name, value]) => `${name}=${value}`)
  const ready = await type([...ids, ...commands(guide, /^4\./)], [])
  assert.deepEqual([ready.last.data.status, ready.last.data.title], ['ready', 'Electrician'])
  const changed = await type([...ids, ...commands(guide, /^5\./)], [])
  assert.deepEqual([changed.last.data.changed, changed.last.data.flow_version], [true, 2])
  const { out } = await type([...ids, ...commands(guide, /^Try it without/)], [])
  assert.match(out, /The workflow WF_BC_\w+ is made\.\nThe mandate JM_\w+ is made\./)
})

test('find skills, as it stands in the guide', async (t) => {
  const { type } = await reader(t)
  const guide = 'find-skills.md'
  const { last: matched } = await type(commands(guide, /^Match/), [])
  const [shown] = [...section(guide, /^Match/).matchAll(/^```json\n(.*?)^```$/gms)]
  assert.deepEqual(JSON.parse(shown![1]!), matched.data.matches[0])
  const asked = await type(commands(guide, /^Ask for/), ['REQUEST'])
  assert.match(asked.out, new RegExp(`"request_id": "${asked.set.REQUEST}"`))
  const { out } = await type(commands(guide, /^The public API/), [])
  assert.match(out, /^{.*"message":"Selection deleted".*}$/m)
  assert.doesNotMatch(out, /"success":false/)
})

test('receive results, as it stands in the guide', async (t) => {
  const { type } = await reader(t)
  const guide = 'receive-results.md'
  const receivers = (block: string) => block.endsWith(' &\n') // run by the test of their own
  const lines = commands(guide, /./).filter((block) => !receivers(block))
  const { out, last, set } = await type(['sleep 60 &', ...lines], ['WEBHOOK', 'EVENT'])
  assert.match(set.WEBHOOK!, /^WH_/)
  assert.deepEqual(
    [...out.matchAll(/"replayed": (\d+)/g)].map(([, count]) => Number(count)),
    [1, 0, 0],
  )
  assert.deepEqual(last.data, { acknowledged: 1, unknown: [] })
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
