import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { signWebhook } from '../../sdk/index.ts'
import { assertBlocksRun, readBlocks } from '../contract/code-blocks.ts'
import { startApp } from '../support/app.ts'
import { copyCheckout, linkPackages, NPM_WITHOUT_DOWNLOADS } from '../support/checkout-copy.ts'
import { oncePerFile } from '../support/cleanup.ts'
import { runClock, TestClock } from '../support/clock.ts'
import { findFreePort } from '../support/free-port.ts'
import { createCampaignPartner } from '../support/partners.ts'
import { until } from '../support/until.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** PATH without node_modules: the examples must run on the machine's own Node, not only on the version that this project installs. */
const path = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter)

const START_TIMEOUT_MS = 60_000
const RESULT_TIMEOUT_MS = 60_000

const startShared = oncePerFile(async (t) => {
  const app = await startApp(t, { worker: true, clock: new TestClock(Date.now()) })
  runClock(t, app.clock)
  return app
})

/** Creates an organisation and the environment in which an example runs. */
async function createEnvironment() {
  const app = await startShared()
  const { key, orgId } = await createCampaignPartner(app)
  const sessionKey = await app.fixtures.createSessionKey(orgId, 'test')
  return {
    ATTESTRY_URL: app.url,
    ATTESTRY_KEY_ID: key.keyId,
    ATTESTRY_SECRET: key.secret,
    ATTESTRY_SESSION_KEY: sessionKey,
  }
}

/** Starts an example with the commands of its README, in a copy of the checkout. */
async function startExample(t: TestContext, name: string, environment: Record<string, string>) {
  const folder = createFolder(t)
  copyCheckout(folder, 'sdk', `examples/${name}`)
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'examples', name, 'package.json'), 'utf8'))
  linkPackages(folder, ['.bin', '@types', ...Object.keys(dependencies).filter((each) => each !== '@attestry/sdk')])
  symlinkSync(join(folder, 'sdk'), join(folder, 'node_modules/@attestry/sdk'))
  mkdirSync(join(folder, '.attestry'))
  const { ATTESTRY_URL, ATTESTRY_KEY_ID, ATTESTRY_SECRET, ATTESTRY_SESSION_KEY } = environment
  const keys = { key_id: ATTESTRY_KEY_ID, secret: ATTESTRY_SECRET, session_key: ATTESTRY_SESSION_KEY }
  writeFileSync(join(folder, '.attestry/demo-keys.json'), JSON.stringify(keys, null, 2))
  const [block] = readBlocks(`examples/${name}/README.md`)
  assertBlocksRun(`examples/${name}/README.md`, [block!.text])
  const commands = block!.text.replaceAll('http://127.0.0.1:8080', ATTESTRY_URL!)
  const port = await findFreePort()
  const child = spawn('bash', ['--norc', '-euc', `${NPM_WITHOUT_DOWNLOADS}\n${commands}`], {
    cwd: folder,
    env: { HOME: folder, PATH: path, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // npm does not forward SIGKILL to the server, so the whole process group is killed
  })
  t.after(() => stop(child, -child.pid!))
  const output = collectOutput(child)
  await until(() => output().includes('is running at') || child.exitCode !== null, START_TIMEOUT_MS).catch(() => {})
  assert.match(output(), /is running at/)
  return { url: `http://127.0.0.1:${port}`, folder: join(folder, 'examples', name), output }
}

test('the ATS in Express creates a job, enrols candidates and shows the results of verified webhooks', async (t) => {
  const { url, folder } = await startExample(t, 'ats-express', await createEnvironment())
  const post = (target: string, fields: Record<string, string>) =>
    fetch(url + target, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' })
  const readJob = async (target: string) =>
    (await fetch(url + target, { headers: { accept: 'application/json' } })).json() as Promise<any>

  const created = await post('/jobs', { title: 'Mason <b>', city: 'Pune', skill_id: 'sk_1001' })
  assert.equal(created.status, 303, await created.text())
  const jobPath = created.headers.get('location')!
  await until(async () => (await readJob(jobPath)).status === 'ready', RESULT_TIMEOUT_MS)
  for (const [name, phone] of [
    ['Asha', '+919990000001'],
    ['Bala', '+919990000003'],
    ['Esha', '+919990000005'],
  ] as const)
    assert.equal((await post(`${jobPath}/candidates`, { name, phone })).status, 303)
  const results = async () =>
    (await readJob(jobPath)).candidates.map(({ name, result }: any) => [name, result?.status, result?.output.qualified])
  await until(async () => (await results()).every(([, status]: any) => status !== undefined), RESULT_TIMEOUT_MS)
  assert.deepEqual(await results(), [
    ['Asha', 'completed', true],
    ['Bala', 'completed', false],
    ['Esha', 'declined', null],
  ])
  const html = await (await fetch(url + jobPath, { headers: { accept: 'text/html' } })).text()
  assert.match(html, /<td>Asha<\/td><td>completed<\/td><td>yes<\/td><td>[^<]+: verified<\/td>/)
  assert.doesNotMatch(html, /<b>/)

  const again = await post(`${jobPath}/candidates`, { name: 'Asha', phone: '+919990000001' })
  assert.deepEqual([again.status, await again.text()], [400, 'This phone number is already enrolled for this job.'])
  assert.equal((await post(`${jobPath}/candidates`, { name: 'No number', phone: '12' })).status, 422)
  assert.equal((await post('/jobs', { title: '' })).status, 400)

  const body = JSON.stringify({ event_id: 'EV_1', type: 'mandate.failed', data: { job_id: jobPath.split('/').at(-1) } })
  const headers = await signWebhook(body, { id: 'EV_1', secret: `whsec_${Buffer.alloc(32).toString('base64')}` })
  const forged = await fetch(`${url}/webhooks/attestry`, { method: 'POST', body, headers })
  assert.equal(forged.status, 401)
  assert.equal((await readJob(jobPath)).status, 'ready', 'a forged webhook changes nothing')
  const { webhook } = JSON.parse(readFileSync(join(folder, 'ats.json'), 'utf8'))
  const signed = await signWebhook(body, { id: 'EV_1', secret: webhook.secret })
  assert.equal((await fetch(`${url}/webhooks/attestry`, { method: 'POST', body, headers: signed })).status, 204)
  assert.equal((await readJob(jobPath)).status, 'failed')
})

test('the college portal in Fastify opens sessions and follows them by webhook', async (t) => {
  const environment = await createEnvironment()
  const { url, output } = await startExample(t, 'college-portal-fastify', environment)
  const verify = (target: string) => fetch(`${url}${target}`, { method: 'POST', redirect: 'manual' })
  const readStudent = async (id: string) =>
    (await fetch(`${url}/students/${id}`, { headers: { accept: 'application/json' } })).json() as Promise<any>

  const opened = await verify('/students/asha/verification')
  assert.equal(opened.status, 303)
  assert.match(opened.headers.get('location')!, new RegExp(`^${environment.ATTESTRY_URL}/session#token=vst_`))
  assert.equal((await readStudent('asha')).verification.status, 'open')

  for (const [id, script, status, event] of [
    ['bala', 'declined', 'declined', 'verification.declined'],
    ['bala', 'endorsed', 'completed', 'verification.completed'],
    ['chitra', 'passes', 'completed', 'verification.completed'],
    ['chitra', 'passes', 'completed', 'verification.completed'],
  ] as const) {
    const response = await verify(`/students/${id}/verification?script=${script}`)
    assert.equal(response.headers.get('location'), `${url}/students/${id}`, 'the student returns to the portal')
    await until(async () => (await readStudent(id)).verification.status === status, RESULT_TIMEOUT_MS)
    await until(() => output().includes(`webhook verified: ${event}`), RESULT_TIMEOUT_MS)
  }
  await verify('/students/asha/verification?script=fails')
  await until(() => output().includes('webhook verified: verification.failed'), RESULT_TIMEOUT_MS)
  const { verification } = await readStudent('asha')
  assert.deepEqual([verification.status, verification.skills.length], ['failed', 1])
  assert.match(await (await fetch(`${url}/students/asha`)).text(), /Status: failed/)
  assert.equal((await verify('/students/bala/verification?script=unknown')).status, 400)
  assert.equal((await verify('/students/unknown/verification')).status, 404)
  assert.equal((await fetch(`${url}/webhooks/attestry`, { method: 'POST', body: '{}' })).status, 401)
})

const hasPython =
  spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))'], {
    env: { ...process.env, PATH: path },
  }).status === 0

test('the batch in Python enrols a CSV file once and writes the results', {
  skip: !hasPython && 'no Python 3.9',
}, async (t) => {
  const environment = await createEnvironment()
  const results = join(createFolder(t), 'results.csv')
  const runBatch = async (...args: string[]) => {
    const child = spawn('python3', ['examples/python-batch/batch.py', ...args], {
      cwd: root,
      env: {
        ...process.env,
        PATH: path,
        PYTHONPATH: join(root, 'sdks/python/src'),
        PYTHONDONTWRITEBYTECODE: '1',
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    t.after(() => stop(child))
    const output = collectOutput(child)
    const [code] = await once(child, 'close')
    return { code, output: output() }
  }
  const candidates = 'examples/python-batch/candidates.csv'
  const first = await runBatch(candidates, results)
  assert.equal(first.code, 0, first.output)
  const expected = [
    'candidate_id,name,status,reason,qualified,interest,skills',
    'c-1,Asha Rao,completed,,yes,interested,',
    'c-2,Bala Iyer,completed,,no,interested,',
    'c-3,Chitra Nair,completed,,yes,not_interested,',
    'c-4,Dev Patel,declined,refused,,,',
    'c-5,Esha Khan,failed,no_response,,,',
  ]
  const readRows = () => readFileSync(results, 'utf8').trim().split('\r\n')
  assert.deepEqual(
    readRows().map((row) => row.split(',').slice(0, 6)),
    expected.map((row) => row.split(',').slice(0, 6)),
  )
  assert.match(readRows()[1]!, /: verified$/)
  const [, mandateId, campaignId] = /mandate (JM_\w+), campaign (CP_\w+)/.exec(first.output)!
  const second = await runBatch(candidates, results, '--mandate', mandateId!)
  assert.match(second.output, new RegExp(`campaign ${campaignId}`), 'a second run continues the same campaign')
  assert.equal(readRows().length, 6)
  const wrongFile = await runBatch('examples/python-batch/README.md', results)
  const missingFile = await runBatch('nope.csv', results)
  assert.deepEqual([missingFile.code, missingFile.output], [1, 'nope.csv: No such file or directory\n'])
  assert.match(wrongFile.output, /README\.md: the columns candidate_id, name, phone are missing/)
})

function collectOutput({ stdout, stderr }: ChildProcess): () => string {
  let text = ''
  for (const stream of [stdout, stderr])
    stream?.on('data', (chunk) => {
      text += chunk
    })
  return () => text
}

async function stop(child: ChildProcess, pid = child.pid!): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  process.kill(pid, 'SIGKILL')
  await closed
}

function createFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-example-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'node_modules/@attestry'), { recursive: true })
  return folder
}
