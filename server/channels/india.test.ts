import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { startApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { signInMember } from '../../test/support/console.ts'
import { GUPSHUP, registerAtPortal, startIndianProviders } from '../../test/support/india.ts'
import { aCandidate, createCampaignPartner } from '../../test/support/partners.ts'
import { cloudError, cloudWebhook, EXOTEL, WHATSAPP } from '../../test/support/provider.ts'
import { BUSINESS_ACCOUNT_ID } from '../../test/support/whatsapp-templates.ts'
import { readLink, yourDataCalls } from '../../test/support/your-data.ts'
import { contactNow } from '../campaigns/contact/engine.ts'
import { HOUR, MINUTE } from '../platform/clock.ts'
import { indianTimeOfDay } from '../platform/india-time.ts'
import { prompt } from '../questions/prompts.ts'
import type { WorkflowInput } from '../workflows/schema.ts'
import type { ChannelName } from './channel.ts'
import { findCredentials, saveCredentials } from './credentials.ts'
import { defaultTexts } from './templates/default-texts.ts'
import { dltCsv, whatsappRequest } from './templates/export.ts'
import { readDltIds } from './templates/import.ts'
import { listTemplates, recordReports, saveTemplates, type TemplateInput, templateRule } from './templates/register.ts'
import { templateViolations, type ViolationCode } from './templates/violations.ts'

// For the full run of ten languages and 1,000 candidates, set INDIA_CANDIDATES=1000.
const CANDIDATE_COUNT = Number(process.env.INDIA_CANDIDATES ?? 30)
const COMPANY = 'Acme Staffing'
const LANGUAGES = ['en', 'hi', 'bn', 'ta', 'te', 'mr', 'gu', 'kn', 'ml', 'pa'] as const
/** Names with characters that operators and WhatsApp reject in values. */
const NAMES = ['Asha Rao', "Ravi (Jr.) O'Neil", 'आशा 🙂 राव', 'Priya\tDevi', 'A'.repeat(100), 'visit evil.example now']
const TITLES = ['Electrician (ITI) / fitter & welder for the metro depot in Pune', 'बिजली मिस्त्री']

const setUp = oncePerFile(async (t) => {
  const app = await startApp(t)
  const { context, clock } = app
  const { db, vault } = context
  const india = await startIndianProviders(t, clock)
  let nextPerson = 1

  /** Registers all texts of an organisation: exports them, lets the portal assign IDs, and imports these. */
  async function registerTexts(orgId: string) {
    const scope = { orgId, mode: 'live' as const }
    await db.transaction(async (tx) => {
      for (const channel of ['sms', 'whatsapp'] as const)
        await saveTemplates(tx, clock, scope, defaultTexts(channel, COMPANY, templateRule(channel)))
      const templates = await listTemplates(tx, scope)
      const assignedIds = registerAtPortal(dltCsv(templates, { header: EXOTEL.from }), india.operator)
      await saveTemplates(tx, clock, scope, readDltIds(assignedIds, templates))
      const requests = templates.filter(({ channel }) => channel === 'whatsapp').map(whatsappRequest)
      india.cloudTemplates.push(...requests)
      const reports = requests.map(({ name, language, components }, index) => ({
        name,
        languageCode: language,
        registryId: String(594425479261596 + index),
        numberedText: (components[0] as { text: string }).text,
        status: 'approved' as const,
      }))
      await recordReports(tx, clock, scope, reports)
    })
  }

  const settings = {
    exotel: { ...EXOTEL, templates: undefined, base_url: india.url, per_second: 1000 },
    gupshup: { ...GUPSHUP, base_url: india.url, per_second: 1000 },
    whatsapp: { ...WHATSAPP, template: undefined, base_url: india.url, per_second: 1000 },
  }

  /** Enrols candidates in all languages in a new organisation whose texts are registered. */
  async function enrol(
    workflow: Partial<WorkflowInput> & { channels: ChannelName[] },
    count: number,
    { sms = 'exotel', title = TITLES[0]! }: { sms?: 'exotel' | 'gupshup'; title?: string } = {},
  ) {
    const partner = await createCampaignPartner(app, { mode: 'live', credits: count + 10, peoplePerDay: count + 10 })
    await registerTexts(partner.orgId)
    const channelIds = new Map<string, string>()
    await db.transaction(async (tx) => {
      for (const channel of workflow.channels) {
        const credentials = channel === 'sms' ? settings[sms] : settings.whatsapp
        channelIds.set(channel, await saveCredentials(tx, vault, clock, partner.orgId, channel, credentials))
      }
    })
    const mandate = await partner.createMandate({ languages: [...LANGUAGES], ...workflow }, { title })
    const candidates = Array.from({ length: count }, (_, index) =>
      aCandidate(nextPerson++, {
        name: NAMES[index % NAMES.length],
        language: LANGUAGES[index % LANGUAGES.length],
      }),
    )
    const { campaign } = await partner.createCampaign(mandate.mandate_id, candidates.slice(0, 500))
    for (let start = 500; start < count; start += 500)
      await partner.enrol(campaign.campaign_id, candidates.slice(start, start + 500))
    return { ...partner, campaignId: campaign.campaign_id as string, candidates, channelIds }
  }
  return { app, context, clock, india, enrol }
})

test('over 48 hours, operators and WhatsApp accept every message in ten languages, and none is sent outside the hours', {
  timeout: 280_000 + CANDIDATE_COUNT * 1000,
}, async () => {
  const { context, clock, india, enrol } = await setUp()
  clock.set('2026-03-11T03:30:00.000Z') // 09:00 in India
  const followUps = (channel: ChannelName) => Array.from({ length: 5 }, () => ({ after_hours: 4, channel }))
  const third = Math.ceil(CANDIDATE_COUNT / 3)
  await enrol({ channels: ['sms'], follow_ups: followUps('sms') }, third)
  await enrol({ channels: ['sms'], follow_ups: followUps('sms') }, third, { sms: 'gupshup', title: TITLES[1]! })
  await enrol({ channels: ['whatsapp'], follow_ups: followUps('whatsapp') }, third, { title: TITLES[1]! })
  const end = clock.now() + 48 * HOUR
  for (; clock.now() < end; clock.advance(30 * MINUTE)) await contactNow(context)
  assert.deepEqual(india.refusals, [])
  const sentBy = (provider: string) => india.sent.filter((each) => each.provider === provider)
  for (const provider of ['exotel', 'gupshup', 'whatsapp']) {
    const people = new Set(sentBy(provider).map(({ to }) => to))
    assert.equal(people.size, third, provider)
    assert.ok(sentBy(provider).length >= third * 6, `${provider}: ${sentBy(provider).length} messages`)
  }
  const usedTemplates = new Set(sentBy('whatsapp').map(({ template }) => template))
  for (const name of ['invitation', 'follow_up_1', 'follow_up_2', 'follow_up_3', 'follow_up_4', 'follow_up_5'])
    assert.ok(usedTemplates.has(`attestry_${name} en`), name)
  for (const { channel, at, text } of india.sent) {
    const start = channel === 'sms' ? 10 : 9
    const time = indianTimeOfDay(at)
    assert.ok(time >= start * HOUR && time < 20 * HOUR, `${channel} at ${new Date(at).toISOString()}`)
    if (channel !== 'sms') continue
    assert.doesNotMatch(text, /\breply\b|STOP|^\d[.)]/im)
    for (const language of LANGUAGES) assert.ok(!text.includes(prompt('choose_number', language)), text)
  }
})

test('each prompt is accepted in each language by every provider, also contacts that candidates asked for and codes', async () => {
  const { context, clock, india, enrol } = await setUp()
  clock.set('2026-03-17T06:30:00.000Z')
  for (const sms of ['exotel', 'gupshup'] as const) {
    const { orgId } = await enrol({ channels: ['sms', 'whatsapp'] }, 1, { sms })
    const sentCount = india.sent.length
    for (const channel of ['sms', 'whatsapp'] as const) {
      const credentials = await findCredentials(context.db.queries, context.vault, orgId, channel)
      for (const language of LANGUAGES)
        for (const kind of [
          ...[0, 1, 2, 3, 4, 5].map((followUpNumber) => ({ followUpNumber })),
          ...(channel === 'sms'
            ? [{ followUpNumber: 1, isRequested: true }, { isCode: true, code: '482910' }, {}]
            : []),
        ]) {
          const message = {
            ...{ message_id: 'MS_1', org_id: orgId, to: '+919812345678', name: NAMES[1]!, language },
            ...{ company: COMPANY, title: TITLES[0]!, minutes: 5, link: `${context.config.publicUrl}/c/abc` },
            ...{ isRequested: false, asksConsent: true, isCode: false, unsubscribeUrl: '' },
            prompts: [{ step: 1, kind: 'notice' as const, text: 'Your code is 482910.', choices: [] }],
            ...kind,
          }
          await context.channels[channel].send(message, credentials, AbortSignal.timeout(10_000))
        }
    }
    assert.equal(india.sent.length - sentCount, LANGUAGES.length * (9 + 6))
  }
  assert.deepEqual(india.refusals, [])
})

test('the SMS with a confirmation code contains the code, also if the name of the organisation has digits', async () => {
  const { app, context, clock, india, enrol } = await setUp()
  clock.set('2026-03-20T06:30:00.000Z')
  for (const sms of ['exotel', 'gupshup'] as const) {
    const partner = await enrol({ channels: ['sms'] }, 1, { sms })
    await context.db.pool.query('update organisations set name = $2 where org_id = $1', [partner.orgId, 'Jobs 2024'])
    await contactNow(context)
    const { candidate } = (await partner.get(`/results?campaign_id=${partner.campaignId}`)).body.data.items[0]
    const token = (await readLink(app, candidate.candidate_id)).split('/').at(-1)!
    const { start, confirm } = yourDataCalls(app, 'candidate', token)
    const started = await start('export', 'phone', { language: 'hi' })
    assert.equal(started.status, 200, JSON.stringify(started.body))
    await contactNow(context)
    const code = /\b\d{6}\b/.exec(india.sent.at(-1)!.text)?.[0]
    assert.equal((await confirm(started.body.data.request_id, { code })).status, 200, india.sent.at(-1)!.text)
    const owner = await signInMember(app, partner.orgId, 'owner')
    const record = await owner.get(`/orgs/${partner.orgId}/live/candidates/${candidate.candidate_id}`)
    assert.doesNotMatch(JSON.stringify(record.body), new RegExp(code!))
  }
  assert.deepEqual(india.refusals, [])
})

/** An SMS template that violates one rule, and the code of the violation. */
const smsViolations: [code: ViolationCode, template: Partial<TemplateInput>][] = [
  ['too_many_variables', { text: `${COMPANY} asks {name} of {company} about the job of {title} here today: {link}` }],
  ['adjacent_variables', { text: `${COMPANY} has a few questions for you about {title}{link}` }],
  ['adjacent_variables', { text: `${COMPANY} has a few questions for you about {title} {link}` }],
  ['unknown_variable', { text: `${COMPANY} has questions for you, {surname}. Answer here: {link}` }],
  ['registry_tag', { text: `${COMPANY} has questions about {#alphanumeric#}. Answer here: {link}` }],
  ['registry_tag', { text: `${COMPANY} has questions about {#var#}. Answer here: {link}` }],
  ['registry_tag', { text: `${COMPANY} has questions about {{1}}. Answer here: {link}` }],
  ['unmatched_brace', { text: `${COMPANY} has questions about {title. Answer here: {link}` }],
  ['unmatched_brace', { text: `${COMPANY} has questions about title}. Answer here: {link}` }],
  ['missing_variable', { text: `${COMPANY} has a few questions for you about the job of {title}.` }],
  ['missing_variable', { purpose: 'code', text: `${COMPANY}: do not give your code to anyone.` }],
  ['wrong_variable', { text: `${COMPANY} has questions with the code {code}. Answer here: {link}` }],
  ['wrong_variable', { purpose: 'code', text: `${COMPANY}: your code is {code}. Use it here: {link}` }],
  ['repeated_variable', { text: `${COMPANY} has questions about {title}, the job of {title}. Here: {link}` }],
  ['repeated_variable', { text: `${COMPANY} has questions for you. Answer at {link} or also at {link}` }],
  ['too_little_fixed_text', { text: 'About {title}: {link}' }],
  ['too_little_fixed_text', { text: '{link}' }],
  ['too_little_fixed_text', { purpose: 'code', text: '{code} code' }],
  ['fixed_link', { text: `${COMPANY} has questions, see https://acme.example/jobs. Answer here: {link}` }],
  ['fixed_link', { text: `${COMPANY} has questions, see www.acme. Answer here: {link}` }],
  ['fixed_link', { text: `${COMPANY} has questions, see bit.ly/x1. Answer here: {link}` }],
  ['fixed_link', { text: `${COMPANY} has questions, see acme-jobs.co.in. Answer here: {link}` }],
  ['fixed_phone_number', { text: `${COMPANY} has questions, call +91 98123 45678. Answer here: {link}` }],
  ['fixed_phone_number', { text: `${COMPANY} has questions, call 9812345678. Answer here: {link}` }],
  ['asks_for_reply', { text: `${COMPANY} has questions. Reply YES to begin, or answer here: {link}` }],
  ['asks_for_reply', { text: `${COMPANY} has questions. Send 1 to begin, or answer here: {link}` }],
  ...LANGUAGES.map((language): [ViolationCode, Partial<TemplateInput>] => [
    'asks_for_reply',
    {
      language,
      text: `${COMPANY}: ${prompt('choose_number', language)} ${prompt('link', language, { link: '{link}' })}`,
    },
  ]),
  ...LANGUAGES.map((language): [ViolationCode, Partial<TemplateInput>] => [
    'asks_for_reply',
    { language, text: `${COMPANY}: ${prompt('link', language, { link: '{link}' })} ${prompt('reply_stop', language)}` },
  ]),
  ['invalid_characters', { text: `${COMPANY} has a few questions for you.\nAnswer here: {link}` }],
  ['invalid_characters', { text: `${COMPANY} has a few\tquestions for you. Answer here: {link}` }],
  ['invalid_characters', { text: `${COMPANY} has a few\u200b questions for you. Answer here: {link}` }],
  ['repeated_spaces', { text: `${COMPANY} has a few  questions for you. Answer here: {link}` }],
  ['repeated_spaces', { text: ` ${COMPANY} has a few questions for you. Answer here: {link}` }],
  ['repeated_spaces', { text: `${COMPANY} has a few questions for you. Answer here: {link} ` }],
  ['too_long', { text: `${COMPANY} has questions. ${'More words. '.repeat(200)}Answer here: {link}` }],
  ['wrong_category', { category: 'transactional' }],
  ['wrong_category', { category: 'service_implicit' }],
  ['wrong_category', { purpose: 'code', category: 'service_explicit', text: `${COMPANY}: your code is {code}.` }],
  ['wrong_header', { header: 'ACMEJ' }],
  ['wrong_header', { header: '123456' }],
  ['wrong_header', { header: 'ACMEJB', category: 'promotional' }],
  ['wrong_id', { registry_id: '1107ABC' }],
  ['wrong_id', { registry_id: '1.107E+18' }],
]

const whatsappViolations: [code: ViolationCode, template: Partial<TemplateInput>][] = [
  ['unsupported_purpose', { purpose: 'code', text: `${COMPANY}: your code is {code}. Do not give it to anyone.` }],
  ['unsupported_language', { language: 'or' }],
  ['unsupported_language', { language: 'as' }],
  ['variable_at_the_edge', { text: `{name}, ${COMPANY} has a few questions for you. Answer here: {link} Thank you.` }],
  ['variable_at_the_edge', { text: `${COMPANY} has a few questions for you. Answer here: {link}` }],
  ['too_little_fixed_text', { text: `Hello {name}: {title} {link} yes` }],
  ['too_long', { text: `${COMPANY} has questions. ${'More words. '.repeat(100)}Answer here: {link} Thank you.` }],
  ['invalid_name', { name: 'Job Questions' }],
  ['wrong_category', { category: 'authentication' }],
]

test('every planted violation of a template is refused with its reason', async () => {
  const { app, context, clock } = await setUp()
  const { orgId } = await app.fixtures.createOrg()
  const bases: Record<'sms' | 'whatsapp', TemplateInput> = {
    sms: {
      channel: 'sms',
      purpose: 'invitation',
      language: 'en',
      text: `${COMPANY} has a few questions for you about the job of {title}. Answer here: {link}`,
    },
    whatsapp: {
      channel: 'whatsapp',
      purpose: 'invitation',
      language: 'en',
      text: `Hello {name}, ${COMPANY} has a few questions for you about the job of {title}. Answer here: {link} Thank you.`,
    },
  }
  const save = (input: TemplateInput) =>
    context.db.transaction((tx) => saveTemplates(tx, clock, { orgId, mode: 'live' }, [input]))
  let refused = 0
  for (const [channel, violations] of [
    ['sms', smsViolations],
    ['whatsapp', whatsappViolations],
  ] as const) {
    await save(bases[channel]) // the template without the violation is accepted
    for (const [code, change] of violations) {
      const category = change.purpose === 'code' && channel === 'sms' ? 'service_implicit' : undefined
      const input = { ...bases[channel], ...(category ? { category } : {}), ...change }
      const found = templateViolations(
        { ...input, category: input.category ?? templateRule(channel).default_category },
        templateRule(channel),
      )
      assert.ok(
        found.some((violation) => violation.code === code),
        `${code} expected for ${JSON.stringify(change)}, found ${found.map((violation) => violation.code).join()}`,
      )
      const { message } = found.find((violation) => violation.code === code)!
      await assert.rejects(save(input), (error: any) =>
        error.details.some((detail: { message: string }) => detail.message === message),
      )
      refused++
    }
  }
  assert.ok(refused >= 60, `${refused} violations`)
})

test('a message that the operator would refuse is refused before it is sent, with the reason', async (t) => {
  const { context, clock, india, enrol } = await setUp()
  clock.set('2026-03-13T06:30:00.000Z')
  const { db } = context
  const violations: [channel: 'sms' | 'whatsapp', plant: (orgId: string) => Promise<unknown>, error: RegExp][] = [
    ...(['draft', 'pending', 'rejected', 'paused', 'disabled'] as const).map((status): (typeof violations)[number] => [
      'whatsapp',
      (orgId) => db.pool.query('update message_templates set status = $2 where org_id = $1', [orgId, status]),
      new RegExp(`no approved WhatsApp template for invitation: attestry_invitation \\(en\\) is ${status}`),
    ]),
    [
      'sms',
      (orgId) => db.pool.query(`update message_templates set status = 'paused' where org_id = $1`, [orgId]),
      /no approved DLT template for invitation/,
    ],
    [
      'sms',
      (orgId) => db.pool.query('delete from message_templates where org_id = $1', [orgId]),
      /no DLT template is registered for invitation/,
    ],
    [
      'sms',
      (orgId) => db.pool.query(`update message_templates set registry_id = null where org_id = $1`, [orgId]),
      /has no DLT template ID/,
    ],
    [
      'sms',
      (orgId) => db.pool.query(`update message_templates set header = '123456' where org_id = $1`, [orgId]),
      /header that must be the registered header of six letters/,
    ],
    [
      'sms',
      (orgId) =>
        db.pool.query(
          `update message_templates set text = replace(text, '{title}', '{title} {name} {company}') where org_id = $1`,
          [orgId],
        ),
      /at most 3 are allowed|two variables without text/,
    ],
  ]
  for (const [channel, plant, error] of violations) {
    const partner = await enrol({ channels: [channel] }, 1)
    await plant(partner.orgId)
    const sentCount = india.sent.length
    await contactNow(context)
    assert.equal(india.sent.length, sentCount, 'nothing was sent')
    const { rows } = await db.pool.query('select state, error from messages where org_id = $1', [partner.orgId])
    assert.equal(rows[0].state, 'failed')
    assert.match(rows[0].error, error)
    const { failures } = (await partner.get('/analytics/messages')).body.data
    assert.deepEqual(
      failures.map(({ reason }: any) => reason),
      ['template'],
    )
  }
  t.diagnostic(`${violations.length} violations`)
})

test('an SMS is sent in the hours of the category of its registered text', async (t) => {
  const { context, clock, enrol } = await setUp()
  const { pool } = context.db
  const { promotional } = templateRule('sms').categories
  const { start } = promotional!
  t.after(() => Object.assign(promotional!, { start }))
  promotional!.start = '12:00'
  clock.set('2026-03-21T05:30:00.000Z') // 11:00 in India
  const partner = await enrol({ channels: ['sms'] }, 1)
  await pool.query(`update message_templates set category = 'promotional', header = '600001' where org_id = $1`, [
    partner.orgId,
  ])
  const isQueued = async () => {
    await contactNow(context)
    const { rows } = await pool.query('select state from messages where org_id = $1', [partner.orgId])
    return rows[0].state === 'queued'
  }
  assert.equal(await isQueued(), true)
  clock.set('2026-03-21T06:29:59.000Z')
  assert.equal(await isQueued(), true)
  clock.set('2026-03-21T06:30:00.000Z')
  assert.equal(await isQueued(), false)
})

test('a template in the channel settings is used until a text of the register is approved', async () => {
  const { app, context, clock, india } = await setUp()
  clock.set('2026-03-18T06:30:00.000Z')
  const { db, vault } = context
  const partner = await createCampaignPartner(app, { mode: 'live', credits: 20, peoplePerDay: 20 })
  const template = { name: 'job_questions', languages: ['en'] }
  india.cloudTemplates.push({
    name: template.name,
    language: 'en',
    components: [{ type: 'BODY', text: 'Hello {{1}}, {{2}} has questions about the job of {{3}}: {{4}} Thank you.' }],
  })
  const credentials = { ...WHATSAPP, template, base_url: india.url, per_second: 1000 }
  await db.transaction(async (tx) => {
    await saveCredentials(tx, vault, clock, partner.orgId, 'whatsapp', credentials)
    await saveTemplates(tx, clock, partner.scope, defaultTexts('whatsapp', COMPANY, templateRule('whatsapp')))
  })
  const [text] = (await listTemplates(db.queries, partner.scope, 'whatsapp')).map(whatsappRequest)
  india.cloudTemplates.push(text!)
  const { mandate_id } = await partner.createMandate({ channels: ['whatsapp'], languages: ['en'] })
  let person = 9000
  for (const [status, expected] of [
    ['draft', 'job_questions en'],
    ['pending', 'job_questions en'],
    ['rejected', 'job_questions en'],
    ['approved', 'attestry_invitation en'],
    ['paused', undefined],
  ] as const) {
    const sentCount = india.sent.length
    await partner.createCampaign(mandate_id, [aCandidate(person++)])
    await db.pool.query('update message_templates set status = $2 where org_id = $1', [partner.orgId, status])
    await contactNow(context)
    assert.deepEqual(
      india.sent.slice(sentCount).map((message) => message.template),
      expected === undefined ? [] : [expected],
      status,
    )
  }
})

test('Gupshup: delivery reports by GET and POST update the message, and need the code of the URL', async () => {
  const { app, context, clock, india, enrol } = await setUp()
  clock.set('2026-03-12T06:30:00.000Z')
  india.sent.length = 0
  const partner = await enrol({ channels: ['sms'] }, 2, { sms: 'gupshup' })
  await contactNow(context)
  // Messages to different people are sent at the same time.
  const [first, second] = india.sent.slice(-2).sort((a, b) => a.form.msg_type!.localeCompare(b.form.msg_type!))
  assert.deepEqual(
    [first!.form.method, first!.form.msg_type, first!.form.mask, first!.form.v, first!.form.userid],
    ['SendMessage', 'Text', EXOTEL.from, '1.1', GUPSHUP.user_id],
  )
  assert.equal(second!.form.msg_type, 'Unicode_Text')
  const { gupshupCallbackUrl } = await import('./gupshup/sms.ts')
  const path = gupshupCallbackUrl('/hooks', GUPSHUP.password, partner.channelIds.get('sms')!)
  const query = `externalId=${first!.id}&deliveredTS=1526347800000&status=SUCCESS&cause=SUCCESS&phoneNo=${first!.to}&errCode=000`
  assert.equal((await app.fetch(`${path}x?${query}`)).status, 403)
  assert.equal((await app.fetch(`${path}x`, { method: 'POST', body: '[]' })).status, 403)
  assert.equal((await app.fetch(`${path}?${query}`)).status, 200)
  const report = { externalId: second!.id, eventType: 'FAILED', errCode: '633', cause: 'TEMPLATE_NOT_MATCHED' }
  const post = (body: string) => app.fetch(path, { method: 'POST', body })
  assert.equal((await post(JSON.stringify([report, { externalId: 5 }]))).status, 200)
  assert.equal((await post(new URLSearchParams({ response: JSON.stringify([report]) }).toString())).status, 200)
  const { rows } = await context.db.pool.query(
    `select provider_id, state, error from messages where org_id = $1 order by message_id`,
    [partner.orgId],
  )
  assert.deepEqual(
    new Map(rows.map(({ provider_id, state, error }: any) => [provider_id, [state, error]])),
    new Map([
      [first!.id, ['delivered', null]],
      [second!.id, ['failed', '633, TEMPLATE_NOT_MATCHED']],
    ]),
  )
})

/** Returns a signed webhook request about the business account. */
function accountWebhook(field: string, value: object, entryId = BUSINESS_ACCOUNT_ID) {
  const body = JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: entryId, changes: [{ field, value }] }],
  })
  const signature = createHmac('sha256', WHATSAPP.app_secret).update(body).digest('hex')
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` }
  return { method: 'POST', headers, body }
}

test('WhatsApp: an opt-out at WhatsApp counts as STOP, in the response and in the report of a message', async () => {
  const { app, context, clock, india, enrol } = await setUp()
  clock.set('2026-03-14T06:30:00.000Z')
  const reasonOf = async ({ get, campaignId }: Awaited<ReturnType<typeof enrol>>) => {
    const [result] = (await get(`/results?campaign_id=${campaignId}`)).body.data.items
    return [result.status, result.reason]
  }
  const refused = await enrol({ channels: ['whatsapp', 'sms'] }, 1)
  india.nextResponses.push(cloudError(400, 131050))
  await contactNow(context)
  assert.deepEqual(await reasonOf(refused), ['declined', 'stopped'])

  const reported = await enrol({ channels: ['whatsapp', 'sms'] }, 1)
  await contactNow(context)
  const { form } = india.sent.at(-1)!
  const errors = [{ code: 131050, title: 'Unable to deliver the message' }]
  const status = { id: `wamid.${india.sent.at(-1)!.id}`, status: 'failed', recipient_id: form.to, errors }
  const path = `/hooks/whatsapp/${reported.channelIds.get('whatsapp')}`
  const report = { ...status, biz_opaque_callback_data: form.biz_opaque_callback_data }
  assert.equal((await app.fetch(path, cloudWebhook({ statuses: [report] }))).status, 200)
  assert.deepEqual(await reasonOf(reported), ['declined', 'stopped'])
  const sentCount = india.sent.length
  await contactNow(context)
  assert.equal(india.sent.length, sentCount, 'the next channel is not used')
})

test('WhatsApp: after a change of the user ID, STOP without a phone number still holds', async () => {
  const { app, context, clock, india, enrol } = await setUp()
  clock.set('2026-03-15T06:30:00.000Z')
  const change = (previous: string, current: string) => ({
    messaging_product: 'whatsapp',
    metadata: { phone_number_id: WHATSAPP.phone_number_id },
    user_id_update: [{ detail: 'changed', user_id: { previous, current } }],
  })
  const stop = (userId: string) => ({
    messages: [{ id: `wamid.${userId}`, from_user_id: userId, type: 'text', text: { body: 'STOP' } }],
  })
  const partner = await enrol({ channels: ['whatsapp'] }, 2)
  const send = async (request: ReturnType<typeof cloudWebhook>) =>
    assert.equal((await app.fetch(`/hooks/whatsapp/${partner.channelIds.get('whatsapp')}`, request)).status, 200)
  // The second person opts out before their user ID is known, and the ID changes.
  await send(cloudWebhook(stop('IN.5')))
  await send(accountWebhook('user_id_update', change('IN.5', 'IN.6')))
  await contactNow(context)
  const [first, second] = india.sent.slice(-2)
  const delivered = ({ id, form }: typeof first & object, recipient_user_id: string) =>
    cloudWebhook({
      statuses: [
        {
          id: `wamid.${id}`,
          status: 'delivered',
          recipient_user_id,
          biz_opaque_callback_data: form.biz_opaque_callback_data,
        },
      ],
    })
  await send(delivered(first!, 'IN.1'))
  await send(delivered(second!, 'IN.6'))
  await send(accountWebhook('user_id_update', change('IN.1', 'IN.2')))
  await send(cloudWebhook(stop('IN.2')))
  const { items } = (await partner.get(`/results?campaign_id=${partner.campaignId}`)).body.data
  assert.deepEqual(
    items.map(({ status, reason }: any) => [status, reason]),
    [
      ['declined', 'stopped'],
      ['declined', 'stopped'],
    ],
  )
})

test('WhatsApp: reports about templates update the register, and no more people are contacted than the limit allows', async () => {
  const { app, context, clock, india, enrol } = await setUp()
  clock.set('2026-03-16T06:30:00.000Z')
  const partner = await enrol({ channels: ['whatsapp'] }, 5)
  const { db, vault } = context
  const credentials = {
    ...WHATSAPP,
    template: undefined,
    base_url: india.url,
    per_second: 1000,
    business_account_id: BUSINESS_ACCOUNT_ID,
  }
  await db.transaction((tx) => saveCredentials(tx, vault, clock, partner.orgId, 'whatsapp', credentials))
  const send = async (field: string, value: object, entryId?: string) =>
    app.fetch(`/hooks/whatsapp/${partner.channelIds.get('whatsapp')}`, accountWebhook(field, value, entryId))
  const findFollowUp = async () => {
    const templates = await listTemplates(db.queries, partner.scope, 'whatsapp')
    return templates.find(({ name, language }) => name === 'attestry_follow_up' && language === 'hi')!
  }
  const names = {
    message_template_id: Number((await findFollowUp()).registry_id),
    message_template_name: 'attestry_follow_up',
    message_template_language: 'hi',
  }
  const rejection = { ...names, event: 'REJECTED', reason: 'INCORRECT_CATEGORY' }
  await send('message_template_status_update', rejection)
  await send('message_template_quality_update', { ...names, new_quality_score: 'YELLOW' })
  await send('template_category_update', { ...names, new_category: 'UTILITY' })
  await send('message_template_status_update', { ...names, event: 'DISABLED' }, '999')
  await send('message_template_status_update', { ...names, event: 'DISABLED', message_template_id: 5944254792615 })
  await send('message_template_status_update', { ...names, event: 'DISABLED', message_template_id: undefined })
  const template = await findFollowUp()
  assert.deepEqual(
    [template.status, template.status_reason, template.quality, template.category],
    ['rejected', 'INCORRECT_CATEGORY', 'yellow', 'utility'],
  )
  // Each event changes the status. The reason "NONE" means that there is no reason.
  for (const [event, status] of [
    ['PENDING', 'pending'],
    ['PAUSED', 'paused'],
    ['DISABLED', 'disabled'],
    ['APPROVED', 'approved'],
  ]) {
    await send('message_template_status_update', { ...names, event, reason: 'NONE' })
    const changed = await findFollowUp()
    assert.deepEqual([changed.status, changed.status_reason], [status, null], event)
  }
  await send('message_template_status_update', rejection)

  const countSent = () =>
    india.sent.filter(({ to }) => partner.candidates.some(({ phone }) => phone === `+${to}`)).length
  await send('business_capability_update', { max_daily_conversation_per_phone: 2, max_phone_numbers_per_business: 2 })
  for (let hour = 0; hour < 5; hour++) {
    await contactNow(context)
    clock.advance(HOUR)
  }
  assert.equal(countSent(), 2)
  await send('phone_number_quality_update', { event: 'UPGRADE', current_limit: 'TIER_UNLIMITED' })
  await contactNow(context)
  clock.advance(HOUR)
  await contactNow(context)
  assert.equal(countSent(), 5)

  for (const [tier, people] of [
    ['TIER_50', 50],
    ['TIER_250', 250],
    ['TIER_1K', 1000],
    ['TIER_2K', 2000],
    ['TIER_10K', 10_000],
    ['TIER_100K', 100_000],
    ['TIER_OF_TOMORROW', 100_000],
    ['TIER_UNLIMITED', null],
  ]) {
    await send('phone_number_quality_update', { event: 'UPGRADE', current_limit: tier })
    const { rows } = await context.db.pool.query('select daily_limit from whatsapp_limits where org_id = $1', [
      partner.orgId,
    ])
    assert.equal(rows[0].daily_limit, people, `${tier}`)
  }
})

test('WhatsApp: the messaging limit of another account does not apply, and workers do not exceed a limit together', async () => {
  const { app, context, clock, india, enrol } = await setUp()
  clock.set('2026-03-19T06:30:00.000Z')
  const { db, vault } = context
  const partner = await enrol({ channels: ['whatsapp'] }, 8)
  const { orgId } = partner
  const credentials = { ...WHATSAPP, template: undefined, base_url: india.url, per_second: 1000 }
  const account = { ...credentials, business_account_id: BUSINESS_ACCOUNT_ID }
  const setAccount = (settings: object) =>
    db.transaction((tx) => saveCredentials(tx, vault, clock, orgId, 'whatsapp', settings))
  const setLimit = (limit: number) =>
    app.fetch(
      `/hooks/whatsapp/${partner.channelIds.get('whatsapp')}`,
      accountWebhook('business_capability_update', { max_daily_conversation_per_phone: limit }),
    )
  const countLimits = async () =>
    (await db.pool.query('select from whatsapp_limits where org_id = $1', [orgId])).rowCount
  await setAccount(account)
  for (const changed of [
    { ...account, phone_number_id: '106540352242999' },
    { ...account, business_account_id: '102290129340999' },
  ]) {
    assert.equal((await setLimit(3)).status, 200)
    await setAccount({ ...account, access_token: 'another-token-of-the-same-account' })
    assert.equal(await countLimits(), 1, 'a new token keeps the limit')
    await setAccount(changed)
    assert.equal(await countLimits(), 0)
    await setAccount(account)
  }
  assert.equal((await setLimit(3)).status, 200)
  await Promise.all([contactNow(context), contactNow(context), contactNow(context)])
  await contactNow(context)
  const phones = new Set(partner.candidates.map(({ phone }) => phone))
  assert.equal(india.sent.filter(({ to }) => phones.has(`+${to}`)).length, 3)
})
