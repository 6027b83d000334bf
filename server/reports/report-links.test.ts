import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { inviteCandidates } from '../../test/support/candidate.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { type ConsoleUser, signInMember } from '../../test/support/console.ts'
import { pngImage } from '../../test/support/images.ts'
import { aCandidate, aTestNumberCandidate, createCampaignPartner, passTime } from '../../test/support/partners.ts'
import { changeBranding } from '../branding/branding.ts'
import { DAY } from '../platform/clock.ts'
import { enforceRetention } from '../privacy/retention/enforce.ts'
import { deleteEndedLinks } from './report-links.ts'

const getApp = oncePerFile((t) => startApp(t))

/** Creates a campaign with a candidate, who is qualified by default, and signs in a viewer. */
async function setUp(candidate: object = aTestNumberCandidate(1)) {
  const app = await getApp()
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  const campaign = await partner.createCampaign(mandate_id, [candidate])
  await passTime(app, 8000)
  const { body } = await partner.get(`/campaigns/${campaign.campaign.campaign_id}/candidates`)
  const candidateId: string = body.data.items[0].candidate_id
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const candidatePath = `/orgs/${partner.orgId}/test/candidates/${candidateId}`
  const linksPath = `${candidatePath}/report-links`
  return { app, partner, viewer, candidateId, candidatePath, linksPath }
}

async function share(user: ConsoleUser, linksPath: string, days = 7): Promise<{ link_id: string; path: string }> {
  const { status, body } = await user.post(linksPath, { days })
  assert.equal(status, 200, JSON.stringify(body))
  const { pathname } = new URL(body.data.url)
  return { link_id: body.data.link_id, path: pathname }
}

async function listLinks(user: ConsoleUser, linksPath: string): Promise<any[]> {
  return (await user.get(linksPath)).body.data.items
}

async function open({ url }: TestApp, path: string) {
  const response = await fetch(url + path)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

test('a shared report opens without an account, with branding and without contact data, and counts how often', async () => {
  const { app, partner, viewer, linksPath, candidateId } = await setUp()
  const link = await share(viewer, linksPath)
  assert.match(link.path, /^\/shared-reports\/[A-Za-z0-9_-]{43}$/)
  const page = await open(app, link.path)
  assert.equal(page.status, 200)
  assert.match(page.text, /<h1>Report: Person 1<\/h1>/)
  assert.match(page.text, /Qualified\. 3 of 3 skills verified/)
  assert.match(page.text, /<td>Verified<\/td>\s*<td>\d of \d correct, \d\d\u00a0%\u00a0certain<\/td>/)
  assert.match(page.text, /<header class="brand"><span dir="auto">[^<]+<\/span>/, 'the name of the organisation')
  assert.equal(page.text.match(/of 3 skills verified/g)?.length, 1, 'the sections do not repeat the summary')
  assert.doesNotMatch(page.text, /<h2>Verdict/)
  assert.doesNotMatch(page.text, /9990000001/)
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
  assert.equal(page.headers.get('x-robots-tag'), 'noindex')

  const logo = pngImage(200, 50).toString('base64')
  await app.context.db.transaction((tx) =>
    changeBranding(tx, app.clock, partner.orgId, { display_name: 'Metro Staffing', colour: '#7a1fa2', logo }),
  )
  assert.match((await open(app, link.path)).text, /<header class="brand"><img [^>]+><span dir="auto">Metro Staffing/)
  const pdf = await open(app, `${link.path}.pdf`)
  assert.equal(pdf.headers.get('content-type'), 'application/pdf')
  assert.equal(pdf.headers.get('content-disposition'), `inline; filename="report-${candidateId}.pdf"`)
  assert.match(pdf.text, /^%PDF-1\.7/)

  const [listed] = await listLinks(viewer, linksPath)
  assert.equal(listed.times_opened, 3)
  assert.equal(listed.created_by, viewer.email)
  assert.equal(listed.last_opened_at, new Date(app.clock.now()).toISOString())
  assert.equal(Date.parse(listed.expires_at) - Date.parse(listed.created_at), 7 * DAY)
  assert.ok(!('url' in listed), 'the URL is returned once')
})

test('the report shows the result of every conversation that has ended, and none of one that runs', async () => {
  for (const [candidate, summary, hasResult] of [
    [aTestNumberCandidate(5), 'The candidate declined to take part.', true],
    [aTestNumberCandidate(6), 'The candidate did not respond.', true],
    [aCandidate(1), 'The candidate has started and not finished yet.', false],
  ] as const) {
    const { app, viewer, linksPath } = await setUp(candidate)
    const { text } = await open(app, (await share(viewer, linksPath)).path)
    assert.ok(text.includes(summary), text)
    assert.deepEqual(
      [text.includes('0 of 3 skills verified'), text.includes('Finished')],
      [hasResult, hasResult],
      summary,
    )
  }
})

test('texts of recruiters and candidates cannot inject markup', async () => {
  const app = await getApp()
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate({ languages: ['en'] }, {
    title: 'Fitter <b>title</b>',
    company_name: 'Metro <b>company</b>',
    methods: ['data_enrichment'],
    enrichment_questions: [
      { key: 'experience', type: 'voice', text: 'Describe your <b>experience</b>.' },
      { key: 'licence', type: 'yes_no', text: 'Do you hold a <b>licence</b>?', knockout: 'no' },
    ],
  } as never)
  const [invited] = await inviteCandidates(app, partner, mandate_id, [aCandidate(1, { name: 'Asha <b>name</b>' })])
  await invited!.page.view()
  await invited!.page.reply({ value: 'yes' })
  await invited!.page.reply({ text: 'Two years at <b>answer</b>' })
  await invited!.page.reply({ value: 'no' })
  const { candidate_id } = await invited!.getCandidacy()
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const link = await share(viewer, `/orgs/${partner.orgId}/test/candidates/${candidate_id}/report-links`)
  const { text } = await open(app, link.path)
  assert.doesNotMatch(text, /<b>/)
  const escapedTexts = [...text.matchAll(/&#60;b&#62;(\w+)&#60;\/b&#62;/g)].map(([, word]) => word!)
  assert.deepEqual([...new Set(escapedTexts)].sort(), ['answer', 'company', 'experience', 'licence', 'name', 'title'])
  const summary = text.match(/<p class="verdict">.*<\/p>/)![0]
  assert.match(summary, /&#60;b&#62;licence/, 'the summary names the question that was not answered as required')
})

test('a link stops working when it is revoked, and when it expires', async () => {
  const { app, partner, viewer, linksPath } = await setUp()
  const [revoked, expiring] = [await share(viewer, linksPath, 30), await share(viewer, linksPath, 1)]
  assert.equal((await listLinks(viewer, linksPath)).length, 2)
  assert.equal((await viewer.delete(`${linksPath}/${revoked.link_id}`)).status, 200)
  assert.equal((await viewer.delete(`${linksPath}/${revoked.link_id}`)).status, 200)
  const afterRevoking = await open(app, revoked.path)
  assert.equal(afterRevoking.status, 410)
  assert.doesNotMatch(afterRevoking.text, /Person 1/)
  assert.equal((await open(app, `${revoked.path}.pdf`)).status, 410)
  assert.equal((await open(app, expiring.path)).status, 200)
  app.clock.advance(DAY)
  assert.equal((await open(app, expiring.path)).status, 410)
  const owner = await signInMember(app, partner.orgId, 'owner')
  assert.deepEqual(await listLinks(owner, linksPath), [])

  const audit = (await owner.get(`/orgs/${partner.orgId}/audit?limit=50`)).body.data.items
  const actions = audit.map(({ action }: any) => action).filter((action: string) => action.startsWith('report.'))
  assert.deepEqual(actions, ['report.revoke', 'report.share', 'report.share'])

  app.clock.advance(120 * DAY)
  await app.context.db.transaction((tx) => deleteEndedLinks(tx, app.clock.now()))
  assert.equal((await open(app, expiring.path)).status, 404)
})

test('an address that is not that of a report is not found, whatever characters it has', async () => {
  const app = await getApp()
  for (const path of ['/shared-reports/', '/reports/'])
    for (const file of ['%0A', 'a%0Ab', '%0D%0A.pdf', '%00', '.pdf', '%E2%80%A8', '%FF'])
      assert.equal((await open(app, path + file)).status, 404, path + file)
})

test('a link cannot be guessed, and members of other organisations and modes cannot use the routes', async () => {
  const { app, partner, viewer, linksPath } = await setUp()
  const { link_id, path } = await share(viewer, linksPath)
  assert.equal(
    (
      await open(
        app,
        path.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
      )
    ).status,
    404,
  )
  assert.equal((await open(app, '/shared-reports/short')).status, 404)
  const other = await createCampaignPartner(app)
  const stranger = await signInMember(app, other.orgId, 'owner')
  const strangerPath = linksPath.replace(partner.orgId, other.orgId)
  assert.equal((await stranger.post(linksPath, { days: 7 })).status, 404)
  assert.equal((await stranger.post(strangerPath, { days: 7 })).status, 404)
  assert.deepEqual(await listLinks(stranger, strangerPath), [])
  assert.equal((await stranger.delete(`${strangerPath}/${link_id}`)).status, 404)
  assert.equal((await viewer.post(linksPath.replace('/test/', '/live/'), { days: 7 })).status, 404)
  assert.equal((await viewer.post(linksPath, { days: 8 })).status, 400)
  assert.equal((await open(app, path)).status, 200)
})

test('erasing or restricting the person, and the end of the retention period, end the links', async () => {
  for (const end of ['restrict', 'erase', 'retention'] as const) {
    const { app, partner, viewer, linksPath } = await setUp()
    const link = await share(viewer, linksPath, 30)
    const [person] = (await partner.get(`/people?phone=${encodeURIComponent('+919990000001')}`)).body.data.items
    const request = { basis: 'GDPR Article 17', requested_by: 'the person' }
    if (end === 'retention') {
      app.clock.advance(731 * DAY)
      await enforceRetention(app.context)
      const { rows } = await app.context.db.pool.query('select 1 from report_links where link_id = $1', [link.link_id])
      assert.equal(rows.length, 0)
    } else {
      assert.equal((await partner.post(`/people/${person.person_id}/${end}`, request)).status, 200)
    }
    const page = await open(app, link.path)
    assert.equal(page.status, 404, end)
    assert.doesNotMatch(page.text, /Person 1/)
    assert.notEqual((await viewer.post(linksPath, { days: 7 })).status, 200)
  }
})

test('the report of a candidate is a PDF file in the console, and opening it is recorded', async () => {
  const { app, partner, candidatePath } = await setUp()
  const owner = await signInMember(app, partner.orgId, 'owner')
  const response = await owner.get(`${candidatePath}/report.pdf`)
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'application/pdf')
  const text = String(response.body)
  assert.match(text, /\(Report: Person 1\)/)
  assert.doesNotMatch(text, /shared-reports/)
  const audit = (await owner.get(`/orgs/${partner.orgId}/audit?limit=5`)).body.data.items
  assert.equal(audit[0].action, 'report.download')
})
