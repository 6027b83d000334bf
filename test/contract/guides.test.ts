import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { grantCredits } from '../../server/campaigns/credits.ts'
import { startTestClocks } from '../../server/test-clocks/runner.ts'
import { timedWorks } from '../../server/worker.ts'
import { ADMIN_KEY, prepareMandates, startApp } from '../support/app.ts'
import { runClock } from '../support/clock.ts'
import { createPartner } from '../support/partners.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Returns the concatenated sections of a guide whose heading matches. */
function readSections(guide: string, headings: RegExp): string {
  const text = readFileSync(join(root, 'docs/guides', guide), 'utf8')
  return text
    .split(/^## /m)
    .filter((part) => headings.test(part))
    .join('')
}

/** Returns the shell commands of the matching sections. */
function readCommands(guide: string, headings: RegExp): string[] {
  return [...readSections(guide, headings).matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!)
}

/** Starts a server with a TEST key, and runs the commands of a guide in a shell as a reader would. */
async function startGuideRunner(t: TestContext, options: { worker?: boolean } = {}) {
  const app = await startApp(t, options)
  app.clock.set(Date.now())
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg()
  const { databaseUrl, masterKey } = app.context.config
  // The key has high rate limits, because a test sends commands faster than a reader.
  const { key } = await createPartner(app, 'test', orgId)
  await app.context.db.transaction((tx) => grantCredits(tx, { orgId, mode: 'test' }, app.clock, 1000))
  const folder = mkdtempSync(join(tmpdir(), 'attestry-guide-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, '.attestry'))
  writeFileSync(join(folder, '.attestry/admin-api-key'), ADMIN_KEY)
  const demoKeys = { session_key: await app.fixtures.createSessionKey(orgId, 'test') }
  writeFileSync(join(folder, '.attestry/demo-keys.json'), JSON.stringify(demoKeys, null, 2))
  const npxFunction = `npx() { shift; ${JSON.stringify(process.execPath)} ${JSON.stringify(join(root, 'cli/main.ts'))} "$@"; }`
  return {
    /** Runs the commands; returns their output, the last JSON in it, and the variables that they set. */
    async run(lines: string[], variables: string[]) {
      const printVariables = variables.map((name) => `echo "${name}=$${name}" >&2`)
      const script = [npxFunction, ...lines, ...printVariables].join('\n').replaceAll('http://127.0.0.1:8080', app.url)
      const child = spawn('bash', ['-euc', script], {
        cwd: folder,
        env: {
          ...process.env,
          ...{ ATTESTRY_URL: app.url, ATTESTRY_KEY_ID: key.keyId, ATTESTRY_SECRET: key.secret },
          ...{ DATABASE_URL: databaseUrl, MASTER_KEY: masterKey!.toString('base64'), ADMIN_API_KEY: ADMIN_KEY },
          TMPDIR: folder, // files of mktemp are removed with it
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
      const variableValues = Object.fromEntries(
        [...err.matchAll(/^([A-Z]+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
      )
      return {
        out,
        variableValues,
        get last() {
          return JSON.parse(out.slice(out.lastIndexOf('\n{') + 1))
        },
      }
    },
    prepare: () => prepareMandates(app.context),
    context: app.context,
  }
}

test('the commands of the guide from-a-job-to-questions work', async (t) => {
  const { run, prepare } = await startGuideRunner(t)
  const guide = 'from-a-job-to-questions.md'
  const { variableValues, last } = await run(readCommands(guide, /^[123]\./), ['WORKFLOW', 'MANDATE', 'FOLDER'])
  assert.ok(last.data.skills.length >= 3, 'the skills of the job are found')
  await prepare()
  const variableAssignments = Object.entries(variableValues).map(([name, value]) => `${name}=${value}`)
  const afterStep4 = await run([...variableAssignments, ...readCommands(guide, /^4\./)], [])
  assert.deepEqual([afterStep4.last.data.status, afterStep4.last.data.title], ['ready', 'Electrician'])
  const afterStep5 = await run([...variableAssignments, ...readCommands(guide, /^5\./)], [])
  assert.deepEqual([afterStep5.last.data.changed, afterStep5.last.data.flow_version], [true, 2])
  const { out } = await run([...variableAssignments, ...readCommands(guide, /^Try it without/)], [])
  assert.match(out, /Created workflow WF_BC_\w+\.\nCreated mandate JM_\w+\./)
})

test('the commands of the guide find-skills work', async (t) => {
  const { run } = await startGuideRunner(t)
  const guide = 'find-skills.md'
  const { last: matched } = await run(readCommands(guide, /^Match/), [])
  const [shown] = [...readSections(guide, /^Match/).matchAll(/^```json\n(.*?)^```$/gms)]
  assert.deepEqual(JSON.parse(shown![1]!), matched.data.matches[0])
  const skillRequestRun = await run(readCommands(guide, /^Request a skill/), ['REQUEST'])
  assert.match(skillRequestRun.out, new RegExp(`"request_id": "${skillRequestRun.variableValues.REQUEST}"`))
  const { out } = await run(readCommands(guide, /^The public API/), [])
  assert.match(out, /^{.*"message":"Selection deleted".*}$/m)
  assert.doesNotMatch(out, /"success":false/)
})

test('the commands of the guide receive-results work', async (t) => {
  const { run } = await startGuideRunner(t)
  const guide = 'receive-results.md'
  const startsReceiver = (block: string) => block.endsWith(' &\n') // tested in receive-results.test.ts
  const guideCommands = readCommands(guide, /./).filter((block) => !startsReceiver(block))
  const { out, last, variableValues } = await run(['sleep 60 &', ...guideCommands], ['WEBHOOK', 'EVENT'])
  assert.match(variableValues.WEBHOOK!, /^WH_/)
  assert.deepEqual(
    [...out.matchAll(/"replayed": (\d+)/g)].map(([, count]) => Number(count)),
    [1, 0, 0],
  )
  assert.deepEqual(last.data, { acknowledged: 1, unknown: [] })
})

test('the commands of the guide run-a-campaign work', async (t) => {
  const { run, prepare } = await startGuideRunner(t)
  const guide = 'run-a-campaign.md'
  const { variableValues, last } = await run(readCommands(guide, /^[12]\./), ['WORKFLOW', 'MANDATE'])
  assert.equal(last.data.mandate_id, variableValues.MANDATE)
  await prepare()
  const runsForever = (block: string) => block.includes('attestry listen')
  const remainingCommands = [
    ...Object.entries(variableValues).map(([name, value]) => `${name}=${value}`),
    ...readCommands(guide, /^[34]\./).filter((block) => !runsForever(block)),
  ]
  const { out } = await run(remainingCommands, ['CAMPAIGN'])
  assert.match(out, /"balance": 989/)
  assert.equal(out.match(/"result_id"/g)?.length, 11)
  assert.match(out, /"enrolled": 11,/)
})

test('the commands of the guide script-test-people work', async (t) => {
  const { run } = await startGuideRunner(t, { worker: true })
  const { out } = await run(readCommands('script-test-people.md', /^(Candidates|Students)/), [])
  assert.deepEqual(statusesIn(out), ['completed', 'completed', 'completed'])
  assert.deepEqual([...out.matchAll(/"qualified": (\w+)/g)].map(([, qualified]) => qualified).sort(), [
    'false',
    'false',
    'true',
  ])
  assert.match(out, /"outcome":"passed"/)
})

test('the commands of the guide test-with-a-clock work', async (t) => {
  const { run, prepare, context } = await startGuideRunner(t)
  const testClocks = startTestClocks(context, timedWorks)
  t.after(() => testClocks.stop())
  const guide = 'test-with-a-clock.md'
  const { variableValues } = await run(readCommands(guide, /^[12]\./), ['CLOCK', 'WORKFLOW', 'MANDATE'])
  await prepare()
  const variableAssignments = Object.entries(variableValues).map(([name, value]) => `${name}=${value}`)
  const { out } = await run([...variableAssignments, ...readCommands(guide, /^(3\.|Archive)/)], ['CAMPAIGN'])
  const [, morning, end, archived] = out.split(/^Clock {2}/m)
  assert.match(morning!, /Status {2}ready\nTime {4}2030-01-16T04:00:00\.000Z/)
  assert.deepEqual(statusesIn(morning!), ['completed', 'pending', 'pending'])
  assert.match(end!, /Time {4}2030-02-15T04:00:00\.000Z/)
  assert.match(end!, /"type": "campaign\.completed"/)
  assert.match(archived!, /TC_\w+ {2}archived {2}2030-02-15T04:00:00\.000Z {2}Follow-ups/)
})

/** Returns the statuses of the results in the output of a command, sorted. */
function statusesIn(out: string): string[] {
  return [...out.matchAll(/^ {8}"status": "(\w+)"/gm)].map(([, status]) => status!).sort()
}
