import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { signIn, signInMember } from '../../../test/support/console.ts'

const startSharedApp = oncePerFile((t) => startApp(t))

const ENGLISH = {
  language: 'en',
  stem: 'A course of bricks runs out of level. What do you do?',
  options: ['Lift and relay it', 'Thicken the joint', 'Plaster over it', 'Cut the bricks'],
}
const HINDI = {
  language: 'hi',
  stem: 'ईंटों की एक परत टेढ़ी हो गई। आप क्या करेंगे?',
  options: ['उठाकर फिर लगाएँगे', 'जोड़ मोटा करेंगे', 'प्लास्टर कर देंगे', 'ईंटें काट देंगे'],
}
const QUESTION = { kind: 'fault', difficulty: 2, texts: [ENGLISH] }

async function setUp() {
  const app = await startSharedApp()
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  return { app, orgId, owner, path: `/orgs/${orgId}/test/questions/sk_1001` }
}

test('an owner adds a question, translates it and changes its text; a changed text has a new ID', async () => {
  const { orgId, owner, path } = await setUp()
  const added = await owner.post(path, QUESTION)
  assert.equal(added.status, 200)
  const { item_id: itemId } = added.body.data
  const translated = await owner.put(`${path}/${itemId}`, { ...QUESTION, texts: [ENGLISH, HINDI] })
  assert.equal(translated.body.data.item_id, itemId, 'a further language keeps the statistics')
  const shown = (await owner.get(`${path}/${itemId}`)).body.data
  assert.deepEqual([shown.texts, shown.kind, shown.author_difficulty], [[ENGLISH, HINDI], 'fault', 2])
  assert.ok(shown.may_edit)
  const changedText = { ...ENGLISH, stem: 'One course of bricks is not level. What do you do?' }
  const changed = await owner.put(`${path}/${itemId}`, { ...QUESTION, difficulty: 3, texts: [changedText, HINDI] })
  assert.notEqual(changed.body.data.item_id, itemId)
  assert.equal((await owner.get(`${path}/${itemId}`)).status, 404)
  const { items } = (await owner.get(path)).body.data
  assert.equal(items.filter(({ source }: any) => source === 'private').length, 1)
  const entries = (await owner.get(`/orgs/${orgId}/audit`)).body.data.items
  assert.deepEqual(
    entries.map(({ action }: any) => action).filter((action: string) => action.startsWith('item.')),
    ['item.change', 'item.change', 'item.add'],
  )
  assert.doesNotMatch(JSON.stringify(entries), /bricks/, 'the audit log has no texts')
})

test('errors name the field, and weak questions are accepted with a warning', async () => {
  const { owner, path } = await setUp()
  const errorsOf = async (texts: object[], change: object = {}) => {
    const { status, body } = await owner.post(path, { ...QUESTION, texts, ...change })
    assert.equal(status, 400)
    return body.error.details.map((detail: { path: string }) => detail.path)
  }
  assert.deepEqual(await errorsOf([]), ['texts'])
  assert.deepEqual(await errorsOf([{ ...ENGLISH, stem: ' ' }]), ['texts[0].stem'])
  assert.deepEqual(await errorsOf([{ ...ENGLISH, stem: `${'a '.repeat(150)}?` }]), ['texts[0].stem'])
  assert.deepEqual(await errorsOf([{ ...ENGLISH, options: ENGLISH.options.slice(0, 3) }]), ['texts[0].options'])
  const repeated = { ...ENGLISH, options: [...ENGLISH.options.slice(0, 3), 'lift and relay it'] }
  assert.deepEqual(await errorsOf([repeated]), ['texts[0].options[3]'])
  assert.deepEqual(await errorsOf([ENGLISH, { ...HINDI, stem: ENGLISH.stem }]), ['texts[1].stem'])
  assert.deepEqual(await errorsOf([ENGLISH, { ...HINDI, options: [...HINDI.options, 'और कुछ'] }]), ['texts'])
  assert.deepEqual(await errorsOf([ENGLISH, ENGLISH]), ['texts[1].language'])
  assert.deepEqual(await errorsOf([ENGLISH], { kind: 'riddle', difficulty: 4, other: 1 }), [
    'other',
    'kind',
    'difficulty',
  ])
  const weak = {
    ...ENGLISH,
    options: ['Lift, clean and relay the whole course of bricks', ...ENGLISH.options.slice(1)],
  }
  const { body } = await owner.post(path, { ...QUESTION, texts: [weak] })
  assert.ok(body.data.warnings.some(({ path: warned }: any) => warned === 'texts[0].options[0]'))
})

test('recruiters, operators and other organisations cannot change questions, and nobody changes built-in ones', async () => {
  const { app, orgId, owner, path } = await setUp()
  const { item_id: itemId } = (await owner.post(path, QUESTION)).body.data
  const recruiter = await signInMember(app, orgId, 'recruiter')
  assert.equal((await recruiter.put(`${path}/${itemId}`, QUESTION)).status, 403)
  assert.equal((await recruiter.get(`${path}/${itemId}`)).body.data.may_edit, false)
  assert.equal((await (await signIn(app)).post(path, QUESTION)).status, 403)
  const stranger = await setUp()
  assert.equal((await stranger.owner.put(`${path}/${itemId}`, QUESTION)).status, 404)
  const changedText = { ...ENGLISH, stem: 'Another question about bricks is asked here. What now?' }
  const foreign = await stranger.owner.put(`${stranger.path}/${itemId}`, { ...QUESTION, texts: [changedText] })
  assert.equal(foreign.status, 404)
  assert.equal((await owner.put(`${path.replace('1001', '1002')}/${itemId}`, QUESTION)).status, 404)
  const { items } = (await owner.get(path)).body.data
  const { item_id: bankId } = items.find(({ source }: any) => source === 'bank')
  const builtIn = await owner.put(`${path}/${bankId}`, QUESTION)
  assert.deepEqual([builtIn.status, builtIn.body.error.code], [409, 'CONFLICT'])
  const repeated = await owner.post(path, { ...QUESTION, texts: [{ ...ENGLISH, language: 'en' }] })
  assert.equal(repeated.status, 200, 'the same question again changes nothing')
  assert.equal(repeated.body.data.item_id, itemId)
})
