import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { createRestoredErasures, listErasures, queueRestoredErasures } from '../../server/people/erasures.ts'
import { withCleanup } from '../support/cleanup.ts'
import { signIn } from '../support/console.ts'
import { dumpTables } from '../support/dump-tables.ts'
import { findTexts } from '../support/find-texts.ts'
import { compareReads, createPreviousDatabase, readRecording, startUpgraded } from './previous-release.ts'

test('the rows of the previous release read the same after the upgrade, and no table contains personal values', async (t) => {
  const recording = await readRecording()
  const database = await createPreviousDatabase(t, recording)
  const before = await dumpTables(database.ownerUrl)
  for (const value of recording.personalValues) assert.notEqual(findTexts(before, [value]).length, 0, value)

  const app = await startUpgraded(t, database, recording)
  assert.deepEqual(findTexts(await dumpTables(database.ownerUrl), recording.personalValues), [])
  assert.deepEqual(await compareReads(app, recording), [])
  const search = `/orgs/${recording.partnerKey.orgId}/test/recruiter-results?q=quillfeather`
  const { body } = await (await signIn(app)).get(search)
  const names = body.data.items.map(({ candidate }: { candidate: { name: string } }) => candidate.name)
  assert.deepEqual(names, ['Asha Quillfeather'])
  assert.deepEqual(findTexts(await dumpTables(database.ownerUrl), recording.personalValues), [])
})

test('an erasure is made again in a backup from before the upgrade, in which people had no IDs', async (t) => {
  const recording = await readRecording()
  const { orgId } = recording.partnerKey
  const erasures = await withCleanup(async (cleanup) => {
    const app = await startUpgraded(cleanup, await createPreviousDatabase(cleanup, recording), recording)
    const partner = app.as(await app.fixtures.createPartnerKey(orgId, { mode: 'test' }))
    const { body } = await partner.get('/people?email=asha.quillfeather@example.com')
    const [person] = body.data.items
    const erasure = { basis: 'GDPR Article 17', requested_by: 'the person' }
    assert.equal((await partner.post(`/people/${person.person_id}/erase`, erasure)).status, 200)
    return listErasures(app.context.db.queries)
  })
  const database = await createPreviousDatabase(t, recording)
  const client = new pg.Client({ connectionString: database.ownerUrl })
  await client.connect()
  await createRestoredErasures(client)
  await queueRestoredErasures(client, erasures)
  await client.end()
  const app = await startUpgraded(t, database, recording)
  const { body } = await app.as(recording.partnerKey).get('/results?limit=100')
  const names = body.data.items.map(({ candidate }: { candidate: { name: string } }) => candidate.name)
  assert.ok(names.includes('erased') && names.includes('Bhanu Ostrowick') && !names.includes('Asha Quillfeather'))
})
