import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { DemoKeys } from '../../server/access/demo-files.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { buildPartnerCli } from '../../test/support/partner-cli.ts'
import { createDeployment } from '../../test/support/server.ts'

const REASON = ['--basis', 'GDPR Article 17', '--requested-by', 'data subject, ticket 4711']

/** The program of the package @attestry/cli, and a server with a TEST campaign of eleven candidates. */
const setUp = oncePerFile(async (t) => {
  const deployment = await createDeployment(t, { embedded: true })
  const { url } = await deployment.serve()
  const keys: DemoKeys = JSON.parse(readFileSync(join(deployment.dataDir, 'demo-keys.json'), 'utf8'))
  const cli = buildPartnerCli(t)
  Object.assign(cli.env, { ATTESTRY_URL: url, ATTESTRY_KEY_ID: keys.key_id, ATTESTRY_SECRET: keys.secret })
  const campaign = await cli.run(['fixtures', 'campaign', '--json'])
  assert.equal(campaign.code, 0, campaign.errors)
  const json = async (...args: string[]) => {
    const { code, output, errors } = await cli.run([...args, '--json'])
    assert.equal(code, 0, errors)
    return JSON.parse(output)
  }
  const findPerson = async (phone: string) => (await json('people', 'find', '--phone', phone))[0]
  return { deployment, cli, json, findPerson }
})

test('a person is found by phone number, corrected, and then found by the new values', async () => {
  const { cli, json, findPerson } = await setUp()
  const { person_id: id, candidates } = await findPerson('+91 99900-00001')
  assert.equal(candidates[0].external_candidate_id, 'c-1')
  const shown = await cli.run(['people', 'show', id])
  assert.match(shown.output, new RegExp(`^Person +${id}\nStatus +active\nLegal hold +none\nCandidates +CD_`))
  const change = ['--name', 'Asha Verma', '--phone', '+919812345678', '--requested-by', 'data subject']
  const corrected = await cli.run(['people', 'correct', id, ...change])
  assert.deepEqual([corrected.code, corrected.output.split('\n')[0]], [0, `Corrected ${id}.`], corrected.errors)
  assert.equal((await findPerson('+919812345678')).person_id, id)
  assert.deepEqual(await json('people', 'find', '--phone', '+919990000001'), [])
  const unknown = await cli.run(['people', 'find', '--email', 'nobody@example.com'])
  assert.equal(unknown.output, 'No person has this email address in this organisation and mode.\n')
})

test('the export is written as JSON or HTML, to a new private file or to standard output', async () => {
  const { cli, json, findPerson } = await setUp()
  const { person_id: id } = await findPerson('+919990000002')
  const { person, sections } = await json('people', 'export', id)
  assert.equal(person.person_id, id)
  assert.ok(JSON.stringify(sections).includes('+919990000002'))
  const written = await cli.run(['people', 'export', id, '--html', '--output', 'candidate.html'])
  assert.deepEqual([written.code, written.output], [0, `Wrote the data of ${id} to candidate.html.\n`], written.errors)
  const file = join(cli.folder, 'candidate.html')
  assert.match(readFileSync(file, 'utf8'), /^<!doctype html>.*Candidate 2/s)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const repeated = await cli.run(['people', 'export', id, '--output', 'candidate.html'])
  assert.equal(repeated.code, 1)
  assert.match(repeated.errors, /attestry: candidate\.html exists; delete it, or choose another file with --output\n$/)
})

test('processing is restricted and continued', async () => {
  const { json, findPerson } = await setUp()
  const { person_id: id } = await findPerson('+919990000003')
  const restricted = await json('people', 'restrict', id, '--basis', 'GDPR Article 18')
  assert.deepEqual([restricted.status, typeof restricted.restricted_at], ['restricted', 'string'])
  assert.equal((await json('people', 'unrestrict', id)).status, 'active')
})

test('an erasure needs basis, requester and a confirmation, and is in the audit log', async () => {
  const { deployment, cli, json, findPerson } = await setUp()
  const { person_id: id } = await findPerson('+919990000004')
  const withoutBasis = await cli.run(['people', 'erase', id, '--requested-by', 'data subject', '--yes'])
  assert.match(withoutBasis.errors, /required option '--basis <text>' not specified/)
  const withoutConfirmation = await cli.run(['people', 'erase', id, ...REASON])
  assert.equal(withoutConfirmation.code, 1)
  assert.match(withoutConfirmation.errors, /^attestry: Nothing was erased: .* Add --yes to erase without asking\.\n$/)
  assert.equal((await json('people', 'show', id)).status, 'active')

  const erased = await cli.run(['people', 'erase', id, ...REASON, '--yes'])
  assert.deepEqual([erased.code, erased.output.split('\n')[0]], [0, `Erased ${id}.`], erased.errors)
  assert.deepEqual(await json('people', 'find', '--phone', '+919990000004'), [])
  const { person, sections } = await json('people', 'export', id)
  assert.deepEqual([person.status, sections], ['erased', []])
  const corrected = await cli.run(['people', 'correct', id, '--name', 'Asha'])
  assert.match(corrected.errors, new RegExp(`^attestry: Person ${id} was erased on `, 'm'))

  const since = new Date(Date.now() - 3_600_000).toISOString()
  const { stdout } = await deployment.cli('audit', 'export', '--since', since)
  const entries = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const entry = entries.find(({ action, subject }) => action === 'person.erase' && subject === id)
  assert.deepEqual(entry?.details, { basis: 'GDPR Article 17', requested_by: 'data subject, ticket 4711' })
})

test('invalid arguments are rejected before a request is sent', async () => {
  const { cli } = await setUp()
  const rejected = async (...args: string[]) => {
    const { code, errors } = await cli.run(['people', ...args])
    assert.equal(code, 1)
    return errors
  }
  assert.equal(await rejected('find'), 'attestry: Set either --phone or --email.\n')
  assert.match(await rejected('find', '--phone', '98123'), /Expected a phone number with country code/)
  assert.match(await rejected('find', '--phone', '+919812345678', '--email', 'a@example.com'), /cannot be used with/)
  assert.equal(await rejected('correct', 'PER_1'), 'attestry: Set at least one of --name, --phone and --email.\n')
  assert.match(
    await rejected('show', 'PER_01KKDS3Q4YH2P7D9C1B8M5N6V0'),
    /Person PER_01KKDS3Q4YH2P7D9C1B8M5N6V0 not found\./,
  )
})
