import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPartOfReceiver, readBlocks } from './code-blocks.ts'
import { readCommands, readSections, startGuideRunner } from './guide-runner.ts'

test('the commands of the guide from-a-job-to-questions work', async (t) => {
  const guide = 'from-a-job-to-questions.md'
  const { run, prepare, assertAllBlocksRan } = await startGuideRunner(t, guide)
  const { variableValues, last } = await run(readCommands(guide, /^[123]\./), ['WORKFLOW', 'MANDATE', 'FOLDER'])
  assert.ok(last.data.skills.length >= 3, 'the skills of the job are found')
  await prepare()
  const variableAssignments = Object.entries(variableValues).map(([name, value]) => `${name}=${value}`)
  const afterStep4 = await run([...variableAssignments, ...readCommands(guide, /^4\./)], [])
  assert.deepEqual([afterStep4.last.data.status, afterStep4.last.data.title], ['ready', 'Electrician'])
  const afterStep5 = await run([...variableAssignments, ...readCommands(guide, /^5\./)], [])
  assert.deepEqual([afterStep5.last.data.changed, afterStep5.last.data.flow_version], [true, 2])
  const { out } = await run([...variableAssignments, ...readCommands(guide, /^Try it without/)], [])
  assert.match(out, /Created workflow WF_BC_\w+\.\nCreated mandate JM_\w+\./)
  assertAllBlocksRan()
})

test('the commands of the guide find-skills work', async (t) => {
  const guide = 'find-skills.md'
  const { run, assertAllBlocksRan } = await startGuideRunner(t, guide)
  const { out, variableValues } = await run(readCommands(guide, /./), ['REQUEST'])
  const responses = [...out.matchAll(/^\{\n.*?^\}$/gms)].map(([text]) => JSON.parse(text).data)
  const shownIn = (heading: RegExp) => JSON.parse(/^```json\n(.*?)^```$/ms.exec(readSections(guide, heading))![1]!)
  assert.deepEqual(
    responses.flatMap(({ matches = [] }) => matches).find(({ phrase }) => phrase === 'raj mistri'),
    shownIn(/^Match/),
  )
  const extracted = responses.flatMap(({ skills = [] }) => skills)
  assert.deepEqual(
    extracted.find(({ mentions }) => mentions),
    shownIn(/^Extract/),
  )
  assert.deepEqual(
    responses.filter(({ found }) => found).map(({ missing }) => missing),
    [['sk_999999999'], ['rocket surgery']],
  )
  assert.match(out, new RegExp(`"request_id": "${variableValues.REQUEST}"`))
  assert.match(out, /^Approved/m)
  assert.match(out, /^{.*"message":"Selection deleted".*}$/m)
  assert.doesNotMatch(out, /"success": ?false/)
  assertAllBlocksRan()
})

test('the commands of the guide receive-results work', async (t) => {
  const guide = 'receive-results.md'
  const receivers = readBlocks(`docs/guides/${guide}`).filter(isPartOfReceiver) // receive-results.test.ts runs them
  const ranElsewhere = receivers.map(({ text }) => text)
  const { run, assertAllBlocksRan } = await startGuideRunner(t, guide, { ranElsewhere })
  const guideCommands = readCommands(guide, /./).filter((block) => !ranElsewhere.includes(block))
  const { out, last, variableValues } = await run(['sleep 60 &', ...guideCommands], ['WEBHOOK', 'EVENT'])
  assert.match(variableValues.WEBHOOK!, /^WH_/)
  assert.deepEqual(
    [...out.matchAll(/"replayed": (\d+)/g)].map(([, count]) => Number(count)),
    [1, 0, 0],
  )
  assert.deepEqual(last.data, { acknowledged: 1, unknown: [] })
  assertAllBlocksRan()
})
