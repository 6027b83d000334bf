import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { signIn, signInMember } from '../../../test/support/console.ts'
import { insertResponses } from '../../../test/support/item-responses.ts'
import { insertPrivateItems } from '../../../test/support/private-items.ts'
import { updateItemStatistics } from '../../items/statistics-job.ts'
import { getFlow } from '../../mandates/flow.ts'
import type { CreatedVia } from '../../workflows/enums.ts'

const startSharedApp = oncePerFile((t) => startApp(t))
const SKILL = { number: 2001, id: 'sk_2001' }

async function setUp({ via = 'playground' as CreatedVia, privateItems = 0 } = {}) {
  const app = await startSharedApp()
  const { orgId } = await app.fixtures.createOrg()
  if (privateItems > 0) await insertPrivateItems(app.context, orgId, { skillNumber: SKILL.number, count: privateItems })
  const scope = { orgId, mode: 'test' as const }
  const skills = [{ skill_id: SKILL.id, verify: true }]
  const { mandate_id } = await app.fixtures.createMandate(scope, { skills, enrichment_questions: [] }, via)
  const recruiter = await signInMember(app, orgId, 'recruiter')
  const path = `/orgs/${orgId}/test/mandates/${mandate_id}/questions`
  const retiredIds = async () => {
    const { skills: flowSkills } = await getFlow(app.context.db.queries, scope, mandate_id, 1)
    return flowSkills[0]!.items.filter(({ isRetired }) => isRetired).map(({ id }) => id)
  }
  return { app, orgId, recruiter, mandateId: mandate_id, path, retiredIds }
}

test('each question of a mandate is listed with its source, its languages and its quality', async () => {
  const { app, orgId, recruiter, path } = await setUp()
  const [first] = (await recruiter.get(path)).body.data.skills[0].items
  assert.equal(first.quality, 'unproven')
  await insertResponses(app, {
    orgId,
    itemId: first.item_id,
    skillNumber: SKILL.number,
    count: 200,
    pattern: 'good',
  })
  await updateItemStatistics(app.context)
  const { data } = (await recruiter.get(path)).body
  assert.equal(data.may_change, true)
  const [skill] = data.skills
  assert.deepEqual([skill.skill_id, skill.source, skill.min_questions], [SKILL.id, 'bank', 12])
  assert.ok(skill.languages.includes('hi'))
  const proven = skill.items.find(({ item_id }: any) => item_id === first.item_id)
  assert.deepEqual([proven.quality, proven.responses, proven.status, proven.excluded], ['proven', 200, 'active', false])
  assert.ok(proven.stem.length > 10 && proven.discrimination > 0 && proven.languages.includes('en'))
  assert.ok(!JSON.stringify(data).includes('"options"'), 'answers are not returned')
})

test('an excluded question is not drawn any more, and can be included again; both are in the audit log', async () => {
  const { app, orgId, recruiter, mandateId, path, retiredIds } = await setUp()
  const [{ item_id: itemId }] = (await recruiter.get(path)).body.data.skills[0].items
  for (let count = 0; count < 2; count++) {
    const { status, body } = await recruiter.post(`${path}/${itemId}/exclude`)
    assert.equal(status, 200)
    assert.equal(body.data.skills[0].items.find(({ item_id }: any) => item_id === itemId).excluded, true)
  }
  assert.deepEqual(await retiredIds(), [itemId])
  const included = (await recruiter.post(`${path}/${itemId}/include`)).body
  assert.equal(included.data.skills[0].items.find(({ item_id }: any) => item_id === itemId).excluded, false)
  assert.deepEqual(await retiredIds(), [])
  const owner = await signInMember(app, orgId, 'owner')
  const entries = (await owner.get(`/orgs/${orgId}/audit`)).body.data.items.filter(({ action }: any) =>
    action.startsWith('question.'),
  )
  assert.deepEqual(
    entries.map(({ action, subject, details }: any) => [action, subject, details.question]),
    [
      ['question.include', mandateId, itemId],
      ['question.exclude', mandateId, itemId],
    ],
  )
})

test('questions cannot be excluded if too few would remain', async () => {
  const { recruiter, path, retiredIds } = await setUp({ privateItems: 13 })
  const { items } = (await recruiter.get(path)).body.data.skills[0]
  assert.deepEqual(
    items.map(({ stem }: any) => stem),
    Array(13).fill(null),
    'only owners see the text of own questions',
  )
  assert.equal((await recruiter.post(`${path}/${items[0].item_id}/exclude`)).status, 200)
  const { status, body } = await recruiter.post(`${path}/${items[1].item_id}/exclude`)
  assert.deepEqual([status, body.error.code], [409, 'CONFLICT'])
  assert.match(body.error.message, /would have only 11 questions in English; at least 12 are required/)
  assert.deepEqual(await retiredIds(), [items[0].item_id])
})

test('mandates of the API, unknown questions, viewers and other organisations are rejected', async () => {
  const { app, orgId, recruiter, path } = await setUp()
  const [{ item_id: itemId }] = (await recruiter.get(path)).body.data.skills[0].items
  assert.equal((await recruiter.post(`${path}/2001.unknown/exclude`)).status, 404)
  assert.equal((await recruiter.post(`${path}/a%20b/exclude`)).status, 404)
  const viewer = await signInMember(app, orgId, 'viewer')
  assert.equal((await viewer.get(path)).body.data.may_change, false)
  assert.equal((await viewer.post(`${path}/${itemId}/exclude`)).status, 403)
  const { recruiter: stranger, orgId: otherOrg } = await setUp()
  assert.equal((await stranger.post(`${path}/${itemId}/exclude`)).status, 404)
  const foreignPath = path.replace(orgId, otherOrg)
  assert.equal((await stranger.get(foreignPath)).status, 404)
  assert.equal((await stranger.post(`${foreignPath}/${itemId}/exclude`)).status, 404)
  const live = path.replace('/test/', '/live/')
  assert.equal((await recruiter.get(live)).status, 404)

  const api = await setUp({ via: 'api' })
  assert.equal((await api.recruiter.get(api.path)).body.data.may_change, false)
  const rejected = await api.recruiter.post(`${api.path}/${itemId}/exclude`)
  assert.deepEqual([rejected.status, rejected.body.error.code], [403, 'FORBIDDEN'])
  const operator = await signIn(app)
  assert.equal((await operator.get(path)).status, 200)
})
