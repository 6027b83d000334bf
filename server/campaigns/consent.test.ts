import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { signInMember } from '../../test/support/console.ts'
import { aCandidate, createCampaignPartner } from '../../test/support/partners.ts'
import { EXOTEL, startProvider, WHATSAPP } from '../../test/support/provider.ts'
import { saveCredentials } from '../channels/credentials.ts'
import { changePrivacySettings } from '../notices/settings.ts'
import { contactNow } from './contact/engine.ts'

const CONSENT = {
  basis: 'consent',
  obtained_at: '2026-03-01T15:45:00+05:30',
  source: 'job fair in Pune',
  text_version: '2026-02',
}
const STORED_CONSENT = { ...CONSENT, obtained_at: '2026-03-01T10:15:00.000Z', stated_by: 'enrolment' }

const setUp = oncePerFile(async (t) => {
  const app = await startApp(t)
  const { context, clock } = app
  const provider = await startProvider(t)
  clock.set('2026-03-11T06:30:00.000Z')
  return {
    app,
    context,
    provider,
    /** Creates a LIVE partner without a declared basis, and a campaign without candidates. */
    async createPartner() {
      const partner = await createCampaignPartner(app, { mode: 'live' })
      await context.db.transaction(async (tx) => {
        await changePrivacySettings(tx, clock, partner.orgId, { contact_basis: null })
        const credentials = { ...WHATSAPP, base_url: provider.url }
        await saveCredentials(tx, context.vault, clock, partner.orgId, 'whatsapp', credentials)
      })
      const { mandate_id } = await partner.createMandate({ channels: ['whatsapp'] })
      const { campaign } = await partner.createCampaign(mandate_id)
      return { ...partner, mandateId: mandate_id, campaignId: campaign.campaign_id as string }
    },
  }
})

test('a LIVE candidate without a basis is rejected, with the path of the field and what to do', async () => {
  const { createPartner } = await setUp()
  const partner = await createPartner()
  const candidates = [aCandidate(1, { consent: CONSENT }), aCandidate(2), aCandidate(3)]
  const message =
    'is required in LIVE mode: state why the candidate may be contacted, or declare a basis for all candidates in the privacy settings of the organisation'
  for (const response of [
    await partner.enrol(partner.campaignId, candidates),
    await partner.post('/campaigns', { mandate_id: partner.mandateId, candidates }, { idempotencyKey: true }),
  ]) {
    assert.equal(response.status, 400)
    assert.deepEqual(response.body.error.details, [
      { path: 'candidates[1].consent', message },
      { path: 'candidates[2].consent', message },
    ])
  }
  const { body } = await partner.get(`/campaigns/${partner.campaignId}/candidates`)
  assert.deepEqual(body.data.items, [], 'the whole request is rejected')
})

test('a consent is validated', async () => {
  const { createPartner } = await setUp()
  const partner = await createPartner()
  const { basis: _, ...withoutBasis } = CONSENT
  const candidates = [
    aCandidate(1, { consent: { ...CONSENT, obtained_at: '2026-03-11T06:30:01Z' } }),
    aCandidate(2, { consent: { ...CONSENT, basis: 'guess' } }),
    aCandidate(3, { consent: withoutBasis }),
    aCandidate(4, { consent: { ...CONSENT, obtained_at: 'yesterday' } }),
    aCandidate(5, { consent: { ...CONSENT, source: ' ' } }),
  ]
  const { status, body } = await partner.enrol(partner.campaignId, candidates)
  assert.equal(status, 400)
  assert.deepEqual(body.error.details.map(({ path }: { path: string }) => path).sort(), [
    'candidates[0].consent.obtained_at',
    'candidates[1].consent.basis',
    'candidates[2].consent.basis',
    'candidates[3].consent.obtained_at',
    'candidates[4].consent.source',
  ])
})

test('a TEST candidate needs no consent', async () => {
  const { app } = await setUp()
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  const { campaign } = await partner.createCampaign(mandate_id, [aCandidate(1), aCandidate(2, { consent: CONSENT })])
  assert.equal(campaign.counts.candidates, 2)
})

test('the contact record proves the basis, the messages and their templates, and the export of the person contains the basis', async () => {
  const { app, context, createPartner, provider } = await setUp()
  const partner = await createPartner()
  assert.equal((await partner.enrol(partner.campaignId, [aCandidate(1, { consent: CONSENT })])).status, 202)
  const { body: list } = await partner.get(`/campaigns/${partner.campaignId}/candidates`)
  const [{ candidate_id }] = list.data.items
  const path = `/campaigns/${partner.campaignId}/candidates/${candidate_id}/contact-record`
  await contactNow(context)
  const { status, body } = await partner.get(path)
  assert.equal(status, 200)
  const { messages, ...record } = body.data
  assert.deepEqual(record, {
    candidate_id,
    external_candidate_id: aCandidate(1).external_candidate_id,
    campaign_id: partner.campaignId,
    consent: STORED_CONSENT,
    opted_out: false,
    dnd_check: null,
  })
  assert.equal(messages.length, 1)
  const { message_id: _, text, ...message } = messages[0]
  assert.deepEqual(message, {
    kind: 'first_message',
    channel: 'whatsapp',
    state: 'sent',
    sent_at: '2026-03-11T06:30:00.000Z',
    template_id: 'job_questions',
    provider_id: provider.received.at(-1)!.id,
    error: null,
  })
  assert.match(text, /^Hello .* This is an automated message/)

  const { body: people } = await partner.get(`/people?phone=${encodeURIComponent(aCandidate(1).phone)}`)
  const { person_id } = people.data.items[0]
  const { body: exported } = await partner.get(`/people/${person_id}/export`)
  const candidacies = exported.data.sections.find(({ name }: { name: string }) => name === 'candidacies').records
  assert.deepEqual(candidacies[0].consent, STORED_CONSENT)
  await partner.patch(`/people/${person_id}`, { name: 'Asha Corrected' })
  assert.deepEqual((await partner.get(path)).body.data.consent, STORED_CONSENT, 'a correction keeps the basis')

  const otherPartner = await createPartner()
  assert.equal((await otherPartner.get(path)).status, 404)
  const testKey = await app.fixtures.createPartnerKey(partner.orgId, { mode: 'test' })
  assert.equal((await app.as(testKey).get(path)).status, 404)
})

test('without its own consent, a candidate has the basis that the organisation declared at the time of the enrolment', async () => {
  const { context, app, createPartner } = await setUp()
  const partner = await createPartner()
  const declare = (change: object) =>
    context.db.transaction((tx) => changePrivacySettings(tx, app.clock, partner.orgId, change))
  await declare({ contact_basis: 'application', contact_basis_source: 'form on example.com' })
  assert.equal((await partner.enrol(partner.campaignId, [aCandidate(1)])).status, 202)
  await declare({ contact_basis: null })
  assert.equal((await partner.enrol(partner.campaignId, [aCandidate(2)])).status, 400)
  const { body: list } = await partner.get(`/campaigns/${partner.campaignId}/candidates`)
  const path = `/campaigns/${partner.campaignId}/candidates/${list.data.items[0].candidate_id}/contact-record`
  assert.deepEqual((await partner.get(path)).body.data.consent, {
    basis: 'application',
    obtained_at: null,
    source: 'form on example.com',
    text_version: null,
    stated_by: 'organisation',
  })
})

test('an owner declares the basis with PUT, which requires its source, and a recruiter cannot', async () => {
  const { app, createPartner } = await setUp()
  const partner = await createPartner()
  const path = `/orgs/${partner.orgId}/privacy`
  const declaration = { contact_basis: 'application', contact_basis_source: 'form on example.com' }
  const recruiter = await signInMember(app, partner.orgId, 'recruiter')
  assert.equal((await recruiter.put(path, declaration)).status, 403)
  const owner = await signInMember(app, partner.orgId, 'owner')
  const withoutSource = await owner.put(path, { contact_basis: 'application' })
  assert.equal(withoutSource.status, 400)
  assert.equal(withoutSource.body.error.details[0].path, 'contact_basis_source')
  assert.equal((await partner.enrol(partner.campaignId, [aCandidate(1)])).status, 400)
  const declared = await owner.put(path, declaration)
  assert.deepEqual([declared.status, declared.body.data.contact_basis], [200, 'application'])
  assert.equal((await partner.enrol(partner.campaignId, [aCandidate(1)])).status, 202)
})

test('a LIVE campaign that can reach nobody is rejected with the reason and what to do', async () => {
  const { app, context } = await setUp()
  const partner = await createCampaignPartner(app, { mode: 'live' })
  const setUpSms = (hosts: string[]) =>
    context.db.transaction((tx) =>
      saveCredentials(tx, context.vault, app.clock, partner.orgId, 'sms', { ...EXOTEL, listed_hosts: hosts }),
    )
  const { mandate_id } = await partner.createMandate({ channels: ['sms'] })
  const create = () => partner.post('/campaigns', { mandate_id }, { idempotencyKey: true })
  await setUpSms(['example.org'])
  const { status, body } = await create()
  assert.equal(status, 409)
  assert.equal(
    body.error.message,
    'This campaign can reach nobody. sms: The host 127.0.0.1 of PUBLIC_URL is not in listed_hosts; mobile operators block links to other hosts. Add the host to the whitelist of the DLT portal and to listed_hosts.',
  )
  await setUpSms(['127.0.0.1'])
  assert.equal((await create()).status, 202)
})
