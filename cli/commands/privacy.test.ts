import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { createDeployment } from '../../test/support/server.ts'

const setUp = oncePerFile(async (t) => {
  const deployment = await createDeployment(t)
  const { url } = await deployment.serve()
  const { org_id: org } = await deployment.json('org', 'create', '--name', 'Acme Staffing')
  const key = await deployment.json('key', 'create', '--org', org, '--mode', 'test')
  await deployment.json('credits', 'grant', '--org', org, '--mode', 'test', '--amount', '100')
  Object.assign(deployment.env, { ATTESTRY_URL: url, ATTESTRY_KEY_ID: key.key_id, ATTESTRY_SECRET: key.secret })
  await deployment.json('fixtures', 'campaign')
  return { ...deployment, org }
})

test('privacy settings are shown and changed one by one, and an empty value removes one', async () => {
  const { json, cli, org } = await setUp()
  const shown = await cli('privacy', 'settings', org)
  assert.match(shown.stdout, /^Complaints +not set$/m)
  const changed = await json(
    ...['privacy', 'settings', org, '--grievance-name', 'Meera Nair', '--grievance-email', 'grievance@example.com'],
    ...['--minors', 'guardian_consent', '--link-days', '7'],
  )
  assert.deepEqual(
    [changed.grievance_name, changed.grievance_email, changed.minors, changed.link_days],
    ['Meera Nair', 'grievance@example.com', 'guardian_consent', 7],
  )
  const removed = await json('privacy', 'settings', org, '--grievance-name', '')
  assert.deepEqual([removed.grievance_name, removed.grievance_email], [null, 'grievance@example.com'])
  const invalid = await cli('privacy', 'settings', org, '--privacy-email', 'nobody')
  assert.equal(invalid.code, 1)
  assert.match(invalid.stderr, /email/)
  const unknown = await cli('privacy', 'settings', 'ORG_NOBODY')
  assert.match(unknown.stderr, /Organisation ORG_NOBODY not found\./)
})

test('the basis of contacts is declared with its source, and removed', async () => {
  const { json, cli, org } = await setUp()
  const withoutSource = await cli('privacy', 'settings', org, '--contact-basis', 'application')
  assert.equal(withoutSource.code, 1)
  assert.match(withoutSource.stderr, /contact_basis_source/)
  const declared = await json(
    ...['privacy', 'settings', org, '--contact-basis', 'application'],
    ...['--contact-basis-source', 'form on example.com'],
  )
  assert.deepEqual([declared.contact_basis, declared.contact_basis_source], ['application', 'form on example.com'])
  assert.match((await cli('privacy', 'settings', org)).stdout, /^Contact basis +application, form on example\.com$/m)
  assert.equal((await json('privacy', 'settings', org, '--contact-basis', 'none')).contact_basis, null)
})

test('retention periods are set within the bounds of the operator, and previewed', async () => {
  const { json, cli, org } = await setUp()
  const periods = await json('privacy', 'retention', 'set', '--org', org, 'contact_data=30', 'mails=90')
  assert.deepEqual([periods.contact_data, periods.mails], [30, 90])
  const tooShort = await cli('privacy', 'retention', 'set', '--org', org, 'contact_data=5')
  assert.equal(tooShort.code, 1)
  assert.match(tooShort.stderr, /contact_data/)
  const unknownClass = await cli('privacy', 'retention', 'set', '--org', org, 'photos=5')
  assert.match(unknownClass.stderr, /Expected CLASS=DAYS, with a class of conversations, answers, /)
  const { people } = await json('privacy', 'retention', 'preview', '--org', org, '--mode', 'test')
  assert.equal(
    people.reduce((sum: number, { count }: { count: number }) => sum + count, 0),
    11,
  )
  const preview = await cli('privacy', 'retention', 'preview', '--org', org, '--mode', 'test')
  assert.match(preview.stdout, /^11 people will be erased on \d{4}-\d\d-\d\d\.$/m)
  const bounds = await json(
    ...['privacy', 'retention', 'bounds', '--class', 'mails', '--min-days', '10', '--max-days', '20'],
  )
  assert.deepEqual(bounds.mails, { min_days: 10, max_days: 20 })
  assert.equal((await json('privacy', 'retention', 'show', '--org', org)).bounds.mails.max_days, 20)
  assert.equal((await cli('privacy', 'retention', 'bounds', '--class', 'mails')).code, 1)
  assert.equal((await json('privacy', 'retention', 'bounds', '--class', 'mails', '--reset')).mails.min_days, 7)
  assert.equal((await json('privacy', 'retention', 'run')).contact_data, 0)
})

test('a legal hold of a person stops the erasure until it ends', async () => {
  const { json, cli, org } = await setUp()
  const [{ person_id: id }] = await json('people', 'find', '--phone', '+919990000001')
  const person = ['--org', org, '--mode', 'test']
  assert.deepEqual(await json('privacy', 'hold', id, ...person, '--reason', 'Lawsuit 12/2026'), {
    id,
    legal_hold: 'Lawsuit 12/2026',
  })
  const erase = ['people', 'erase', id, '--basis', 'GDPR Article 17', '--requested-by', 'data subject', '--yes']
  const rejected = await cli(...erase)
  assert.match(rejected.stderr, new RegExp(`Person ${id} has a legal hold \\(Lawsuit 12/2026\\)`))
  assert.equal((await cli('privacy', 'hold', id, ...person, '--end')).stdout, `Ended the legal hold of ${id}.\n`)
  assert.equal((await cli(...erase)).code, 0)
  const withoutOrg = await cli('privacy', 'hold', id, '--end')
  assert.match(withoutOrg.stderr, /A person requires --org ORG_…\./)
  assert.equal((await json('privacy', 'hold', org, '--reason', 'Investigation')).legal_hold, 'Investigation')
  assert.match((await cli('privacy', 'settings', org)).stdout, /^Legal hold +Investigation$/m)
  assert.equal((await json('privacy', 'hold', org, '--end')).legal_hold, null)
  assert.match((await cli('privacy', 'hold', org)).stderr, /Use either --reason TEXT, to start the hold, or --end\./)
})

test('the breach list has the contact data of affected people', async () => {
  const { cli, org } = await setUp()
  const list = await cli('privacy', 'breach-list', '--org', org, '--tables', 'candidates')
  assert.equal(list.code, 0, list.stderr)
  const lines = list.stdout.trim().split('\n')
  assert.ok(
    lines.some((line) => line.includes('Candidate 5') && line.includes('+919990000005')),
    list.stdout,
  )
  const unknownTable = await cli('privacy', 'breach-list', '--tables', 'photos')
  assert.match(unknownTable.stderr, /--tables: expected .*; got "photos"\./)
})

test('an organisation is exported to a file, and erased after its name was confirmed', async () => {
  const { cli, json, dataDir } = await setUp()
  const { org_id: org } = await json('org', 'create', '--name', 'Orion Works')
  await json('member', 'add', '--org', org, '--email', 'asha@example.com', '--role', 'owner')
  const file = join(dataDir, 'orion.ndjson')
  const exported = await json('org', 'export', org, '--output', file)
  assert.equal(exported.people, 0)
  const lines = (await readFile(file, 'utf8')).trim().split('\n')
  assert.ok(lines.every((line) => typeof JSON.parse(line) === 'object') && lines.join().includes('Orion Works'))
  const wrongName = await cli('org', 'erase', org, '--confirm', 'Orion', '--basis', 'End of contract')
  assert.equal(wrongName.code, 1)
  const erased = await cli('org', 'erase', org, '--confirm', 'Orion Works', '--basis', 'End of contract')
  assert.equal(erased.code, 0, erased.stderr)
  assert.match(erased.stdout, new RegExp(`^Erased ${org} and 0 people\\.`))
})

test('the erasure of an organisation says how many people are not erased because of a legal hold', async () => {
  const { cli, json, org } = await setUp()
  const erase = ['org', 'erase', org, '--confirm', 'Acme Staffing', '--basis', 'End of contract']
  for (const phone of ['+919990000002', '+919990000003']) {
    const [{ person_id: id }] = await json('people', 'find', '--phone', phone)
    await json('privacy', 'hold', id, '--org', org, '--mode', 'test', '--reason', 'Lawsuit 12/2026')
    if (phone === '+919990000003') {
      const two = await cli(...erase)
      assert.match(two.stdout, / are erased\. 2 people are not, because they or the organisation have a legal hold\./)
      await json('privacy', 'hold', id, '--org', org, '--mode', 'test', '--end')
    }
  }
  const one = await cli(...erase)
  assert.match(
    one.stdout,
    / erased\. 1 person is not, because the person or the organisation has a legal hold\. End the legal hold and run/,
  )
})
