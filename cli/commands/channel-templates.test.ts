import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { EXOTEL, WHATSAPP } from '../../test/support/provider.ts'
import { createDeployment } from '../../test/support/server.ts'
import { BUSINESS_ACCOUNT_ID, startTemplateApi } from '../../test/support/whatsapp-templates.ts'

const SMS_LANGUAGES = 12
const WHATSAPP_LANGUAGES = 10
const SMS_PURPOSES = 3
const WHATSAPP_PURPOSES = 8
/** Texts for reviewers: two purposes in two languages. */
const REVIEW_TEXTS = 4

const setUp = oncePerFile(async (t) => {
  const deployment = await createDeployment(t)
  await deployment.serve()
  return deployment
})

test('SMS texts are created, exported for a DLT portal, and approved by importing their IDs', async () => {
  const { cli, json, dataDir } = await setUp()
  const { org_id } = await json('org', 'create', '--name', 'Acme Staffing')
  const templates = (...args: string[]) => cli('--json', 'channels', 'templates', ...args, '--org', org_id)
  const { templates: _, ...settings } = EXOTEL
  await json('channels', 'set', '--org', org_id, '--channel', 'sms', '--data', JSON.stringify(settings))
  const findings = async () =>
    (await json('channels', 'check', '--org', org_id)).findings.map((each: any) => each.problem)
  assert.ok(
    (await findings()).some((problem: string) => problem.startsWith('No template for the invitation is approved')),
  )

  const created = JSON.parse((await templates('create', '--channel', 'sms')).stdout)
  assert.equal(created.length, SMS_PURPOSES * SMS_LANGUAGES + REVIEW_TEXTS)
  assert.ok(created.every(({ status }: any) => status === 'draft'))
  assert.deepEqual(JSON.parse((await templates('create', '--channel', 'sms')).stdout), [], 'no template is replaced')

  const file = join(dataDir, 'templates.csv')
  assert.equal((await templates('export', '--channel', 'sms', '--output', file)).code, 0)
  const lines = (await readFile(file, 'utf8')).trim().split('\r\n')
  assert.equal(lines.length, 1 + created.length)
  assert.equal(
    lines[1],
    'attestry_invitation_en,SMS,Service Explicit,METROJ,Text,{#alphanumeric#} at Acme Staffing: a few questions for you. Answer here: {#url#},title link,',
  )
  assert.match(lines.find((line) => line.startsWith('attestry_code_en'))!, /Service Implicit.*\{#numeric#\}/)
  const untyped = await templates('export', '--channel', 'sms', '--tags', 'untyped')
  assert.match(untyped.stdout, /\{#var#\} at Acme Staffing/)
  assert.doesNotMatch(untyped.stdout, /alphanumeric/)

  await writeFile(file, 'Template Name,Template ID\nattestry_invitation_en,1.10700E+18\nunknown,1107000000000000001\n')
  const rejected = await templates('import', '--data', `@${file}`)
  assert.equal(rejected.code, 1)
  assert.match(rejected.stderr, /line 2.*rounded it/s)
  assert.match(rejected.stderr, /line 3.*not in the register/s)
  const names = created.map(({ name }: any) => name)
  await writeFile(
    file,
    [
      'Template ID,Template Name,Status',
      ...names.map((name: string, index: number) => `11070000000000${10000 + index},${name},Approved`),
    ].join('\n'),
  )
  assert.equal(JSON.parse((await templates('import', '--data', `@${file}`)).stdout).length, names.length)
  assert.deepEqual(
    (await findings()).filter((problem: string) => !/PUBLIC_URL/.test(problem)),
    [],
  )

  const set = (...args: string[]) =>
    templates('set', '--channel', 'sms', '--purpose', 'invitation', '--language', 'en', ...args)
  const changed = JSON.parse(
    (await set('--text', 'Acme Staffing has questions about {title}. Answer here: {link}')).stdout,
  )
  assert.deepEqual([changed.status, changed.registry_id], ['draft', null], 'a new text is not approved')
  assert.equal(changed.name, 'attestry_invitation_en_v2')
  const list = 'Template Name,Template ID\nattestry_invitation_en,1107000000000010000\n'
  await writeFile(file, list)
  assert.deepEqual(JSON.parse((await templates('import', '--data', `@${file}`)).stdout), [], 'the ID of the old text')
  await writeFile(file, `${list}attestry_invitation_en_v2,1107000000000010099\n`)
  const [imported] = JSON.parse((await templates('import', '--data', `@${file}`)).stdout)
  assert.deepEqual([imported.name, imported.registry_id], ['attestry_invitation_en_v2', '1107000000000010099'])
  const invalid = await set('--text', 'Acme Staffing has questions about {title} {name} {company} {link}')
  assert.equal(invalid.code, 1)
  assert.match(invalid.stderr, /at most 3 are allowed/)
  assert.match(invalid.stderr, /two variables without text between them/)
  assert.equal((await set('--id', '1107000000000000777')).code, 0)
  const [approved] = JSON.parse((await templates('list', '--channel', 'sms')).stdout)
  assert.deepEqual([approved.status, approved.registry_id], ['approved', '1107000000000000777'])
  assert.equal((await templates('remove', '--channel', 'sms', '--purpose', 'code', '--language', 'as')).code, 0)
  assert.equal(JSON.parse((await templates('list')).stdout).length, names.length - 1)
})

test('WhatsApp templates are submitted, and their status and quality are read', async (t) => {
  const { cli, json } = await setUp()
  const api = await startTemplateApi(t)
  const { org_id } = await json('org', 'create', '--name', 'Acme Staffing')
  const { template: _, ...settings } = { ...WHATSAPP, base_url: api.url }
  const setChannel = (data: object) =>
    json('channels', 'set', '--org', org_id, '--channel', 'whatsapp', '--data', JSON.stringify(data))
  await setChannel(settings)
  const templates = (...args: string[]) => cli('--json', 'channels', 'templates', ...args, '--org', org_id)
  const created = JSON.parse((await templates('create', '--channel', 'whatsapp', '--category', 'utility')).stdout)
  assert.equal(created.length, WHATSAPP_PURPOSES * WHATSAPP_LANGUAGES + REVIEW_TEXTS)
  const withoutAccount = await templates('submit')
  assert.match(withoutAccount.stderr, /have no business_account_id/)
  await setChannel({ ...settings, business_account_id: BUSINESS_ACCOUNT_ID })
  const submitted = await templates('submit')
  assert.equal(submitted.code, 0, submitted.stderr)
  assert.equal(api.templates.length, created.length)
  const [invitation] = api.templates
  assert.match(invitation!.components[0].text, /^Hello \{\{1\}\}\..*Acme Staffing.*Answer here: \{\{4\}\}\nReply STOP/s)

  for (const template of api.templates) template.status = 'APPROVED'
  Object.assign(api.templates[0]!, { status: 'REJECTED', rejected_reason: 'INVALID_FORMAT' })
  Object.assign(api.templates[1]!, { quality_score: { score: 'RED' }, category: 'MARKETING' })
  assert.deepEqual(JSON.parse((await templates('refresh')).stdout), {
    reported: created.length,
    updated: created.length,
    different: [],
  })
  const [rejected, poor, ...others] = JSON.parse((await templates('list')).stdout)
  assert.deepEqual([rejected.status, rejected.status_reason], ['rejected', 'INVALID_FORMAT'])
  assert.deepEqual([poor.status, poor.quality, poor.category], ['approved', 'red', 'marketing'])
  assert.ok(others.every(({ status, registry_id }: any) => status === 'approved' && registry_id !== null))
  const { findings } = await json('channels', 'check', '--org', org_id)
  assert.ok(findings.some(({ problem }: any) => /attestry_invitation in en is rejected: INVALID_FORMAT/.test(problem)))
  assert.ok(findings.some(({ problem }: any) => /attestry_invitation in hi as red/.test(problem)))
})

test('a changed WhatsApp text is not approved by reports about the text before', async (t) => {
  const { cli, json } = await setUp()
  const api = await startTemplateApi(t)
  const { org_id } = await json('org', 'create', '--name', 'Acme Staffing')
  const { template: _, ...settings } = { ...WHATSAPP, base_url: api.url, business_account_id: BUSINESS_ACCOUNT_ID }
  await json('channels', 'set', '--org', org_id, '--channel', 'whatsapp', '--data', JSON.stringify(settings))
  const templates = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli('--json', 'channels', 'templates', ...args, '--org', org_id)
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }
  const set = (...args: string[]) =>
    templates('set', '--channel', 'whatsapp', '--purpose', 'invitation', '--language', 'en', ...args)
  const firstText = 'Hello {name}, Acme Staffing has questions about the job of {title}. Answer here: {link} Thank you.'
  const secondText = 'Hello {name}, Acme Staffing is hiring for the job of {title}. Answer here: {link} Thank you.'
  assert.equal((await set('--text', firstText)).name, 'attestry_invitation')
  assert.equal((await set('--text', secondText)).name, 'attestry_invitation', 'a draft keeps its name')
  await templates('submit')
  api.templates[0]!.status = 'APPROVED'
  assert.deepEqual(await templates('refresh'), { reported: 1, updated: 1, different: [] })

  const changed = await set('--text', firstText)
  assert.deepEqual([changed.name, changed.status, changed.registry_id], ['attestry_invitation_v2', 'draft', null])
  assert.deepEqual(await templates('refresh'), { reported: 1, updated: 0, different: [] })
  // The same name as the approved text, such as after an edit at WhatsApp that is not approved yet.
  await set('--text', firstText, '--name', 'attestry_invitation')
  assert.deepEqual(await templates('refresh'), { reported: 1, updated: 0, different: ['attestry_invitation (en)'] })
  assert.equal((await templates('list'))[0].status, 'draft')

  await set('--name', 'attestry_invitation_v2')
  await templates('submit')
  assert.deepEqual(
    api.templates.map(({ name, status }) => [name, status]),
    [
      ['attestry_invitation', 'APPROVED'],
      ['attestry_invitation_v2', 'PENDING'],
    ],
  )
  await templates('refresh')
  assert.equal((await templates('list'))[0].status, 'pending')
  api.templates[1]!.status = 'APPROVED'
  await templates('refresh')
  assert.equal((await templates('list'))[0].status, 'approved')
  assert.equal((await set('--text', secondText)).name, 'attestry_invitation_v3')
})
