import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestClocks } from '../../server/test-clocks/runner.ts'
import { timedWorks } from '../../server/worker.ts'
import { startReceiver } from '../support/receiver.ts'
import { readCommands, startGuideRunner } from './guide-runner.ts'

test('the commands of the guide run-a-campaign work', async (t) => {
  const guide = 'run-a-campaign.md'
  const { run, assertAllBlocksRan } = await startGuideRunner(t, guide, { worker: true })
  const receiver = await startReceiver(t)
  const { variableValues, last } = await run(readCommands(guide, /^[12]\./), ['WORKFLOW', 'MANDATE'])
  assert.equal(last.data.mandate_id, variableValues.MANDATE)
  const [listen] = readCommands(guide, /^4\./).filter((block) => block.startsWith('npx attestry listen '))
  const waitForLine = (text: string) =>
    `for attempt in $(seq 300); do if grep -q ${text} listen.log; then break; fi; sleep 0.2; done; grep ${text} listen.log`
  const remainingCommands = [
    ...Object.entries(variableValues).map(([name, value]) => `${name}=${value}`),
    // The reader runs this command in another terminal.
    `{\n${listen}} > listen.log 2>&1 &`,
    'trap "kill $!; wait" EXIT',
    waitForLine('Forwarding'),
    ...readCommands(guide, /^3\./),
    waitForLine('campaign.completed'),
    ...readCommands(guide, /^4\./).filter((block) => block !== listen),
  ].map((line) => line.replace('http://localhost:3000/webhooks', receiver.url))
  const { out } = await run(remainingCommands, ['CAMPAIGN'], [listen!])
  assert.match(out, /"balance": 9(89|90)/) // the credit of the unreachable candidate is refunded
  assert.equal(new Set(out.match(/"result_id": "\w+"/g)).size, 11)
  assert.match(out, /"enrolled": 11,/)
  assert.ok(receiver.received.some(({ body }) => body.type === 'campaign.completed'))
  assertAllBlocksRan()
})

test('the commands of the guide script-test-people work', async (t) => {
  const guide = 'script-test-people.md'
  const { run, assertAllBlocksRan } = await startGuideRunner(t, guide, { worker: true })
  const { out } = await run(readCommands(guide, /^(Candidates|Students)/), [])
  assert.deepEqual(statusesIn(out), ['completed', 'completed', 'completed'])
  assert.deepEqual([...out.matchAll(/"qualified": (\w+)/g)].map(([, qualified]) => qualified).sort(), [
    'false',
    'false',
    'true',
  ])
  assert.match(out, /"outcome":"passed"/)
  assertAllBlocksRan()
})

test('the commands of the guide test-with-a-clock work', async (t) => {
  const guide = 'test-with-a-clock.md'
  const { run, prepare, context, assertAllBlocksRan } = await startGuideRunner(t, guide)
  const testClocks = startTestClocks(context, timedWorks)
  t.after(() => testClocks.stop())
  const { variableValues } = await run(readCommands(guide, /^[12]\./), ['CLOCK', 'WORKFLOW', 'MANDATE'])
  await prepare()
  const variableAssignments = Object.entries(variableValues).map(([name, value]) => `${name}=${value}`)
  const { out } = await run([...variableAssignments, ...readCommands(guide, /^(3\.|Archive)/)], ['CAMPAIGN'])
  const [, morning, end, archived] = out.split(/^Clock {2}/m)
  assert.match(morning!, /Status {2}ready\nTime {4}2030-01-16T04:00:00\.000Z/)
  assert.deepEqual(statusesIn(morning!), ['completed', 'pending', 'pending'])
  assert.match(end!, /Time {4}2030-02-15T04:00:00\.000Z/)
  assert.match(end!, /"type": "campaign\.completed"/)
  assert.match(archived!, /TC_\w+ {2}archived {2}2030-02-15T04:00:00\.000Z {2}Follow-ups/)
  assertAllBlocksRan()
})

/** Returns the statuses of the results in the output of a command, sorted. */
function statusesIn(out: string): string[] {
  return [...out.matchAll(/^ {8}"status": "(\w+)"/gm)].map(([, status]) => status!).sort()
}
