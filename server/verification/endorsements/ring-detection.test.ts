import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEndorsementGraph, measureDetection } from '../../../test/support/endorsement-graph.ts'
import { detectRings, type EndorsementEdge } from './ring-detection.ts'

/** An endorsement as a manager with free mail, answered quickly. */
function edge(reviewer: string, student: string, changes: Partial<EndorsementEdge> = {}): EndorsementEdge {
  return { reviewer, student, type: 'manager', facts: ['saw_the_work', 'free_mail', 'quick_answer'], ...changes }
}

const asColleague = { type: 'peer', facts: ['peer_relation', 'company_domain'] } satisfies Partial<EndorsementEdge>

function cycle(size: number, changes: Partial<EndorsementEdge> = {}): EndorsementEdge[] {
  return Array.from({ length: size }, (_, index) => edge(`m${index}`, `m${(index + 1) % size}`, changes))
}

const findMembers = async (edges: EndorsementEdge[]) =>
  (await detectRings(edges)).map(({ kind, members }) => `${kind}: ${members.join(' ')}`)

test('directed cycles of three to six people are found, longer ones are not', async () => {
  assert.deepEqual(await findMembers(cycle(3)), ['cycle: m0 m1 m2'])
  assert.deepEqual(await findMembers(cycle(6)), ['cycle: m0 m1 m2 m3 m4 m5'])
  assert.deepEqual(await findMembers(cycle(7)), [])
})

test('people who endorse in one direction only are not a ring', async () => {
  const chain = Array.from({ length: 20 }, (_, index) => edge(`m${index}`, `m${index + 1}`))
  const teacher = Array.from({ length: 100 }, (_, index) => edge('teacher', `student${index}`))
  assert.deepEqual(await findMembers([...chain, ...teacher]), [])
})

test('colleagues of a company who endorse each other are not a ring, managers of each other are', async () => {
  const everyone = ['a', 'b', 'c', 'd']
  const allPairs = (changes: Partial<EndorsementEdge>) =>
    everyone.flatMap((reviewer) =>
      everyone.filter((student) => student !== reviewer).map((student) => edge(reviewer, student, changes)),
    )
  assert.deepEqual(await findMembers(allPairs(asColleague)), [])
  assert.deepEqual(await findMembers(allPairs({})), ['cluster: a b c d'])
})

test('a pair is reported only if there is more against it than the endorsement in return', async () => {
  const pair = (changes: Partial<EndorsementEdge>) => [edge('a', 'b', changes), edge('b', 'a', changes)]
  assert.deepEqual(await findMembers(pair(asColleague)), [])
  assert.deepEqual(await findMembers(pair({ facts: ['saw_the_work', 'free_mail'] })), [])
  assert.deepEqual(await findMembers(pair({ facts: ['saw_the_work', 'free_mail', 'same_device'] })), ['pair: a b'])
})

test('endorsements of outsiders, and of outsiders in return, do not hide a ring', async () => {
  const camouflage = cycle(5).flatMap(({ reviewer: member }, index) => [
    edge(`boss${index}`, member, asColleague),
    edge(`friend${index}`, member, asColleague),
    edge(member, `friend${index}`, asColleague),
    edge(member, `junior${index}`, asColleague),
  ])
  assert.deepEqual(await findMembers([...camouflage, ...cycle(5)]), ['cycle: m0 m1 m2 m3 m4'])
})

test('two rings that are connected by one pair are two findings', async () => {
  const second = cycle(4).map(({ reviewer, student, ...rest }) => ({
    ...rest,
    reviewer: `x${reviewer}`,
    student: `x${student}`,
  }))
  const connection = [edge('m0', 'xm0', asColleague), edge('xm0', 'm0', asColleague)]
  assert.deepEqual((await findMembers([...cycle(4), ...second, ...connection])).sort(), [
    'cycle: m0 m1 m2 m3',
    'cycle: xm0 xm1 xm2 xm3',
  ])
})

test('a finding has the counts that explain it, and repeated endorsements count once', async () => {
  const [ring] = await detectRings([
    ...cycle(3),
    ...cycle(3),
    edge('m1', 'm0'),
    edge('outsider', 'm0'),
    edge('m2', 'm2'),
  ])
  assert.deepEqual(ring!.evidence, {
    endorsements: 4,
    expectedEndorsements: 2.8,
    reciprocalPairs: 1,
    shortestCycle: 2,
    insideShare: 0.8,
    superiorRelations: 4,
    freeOrDisposableMail: 4,
    quickAnswers: 4,
    sameDeviceOrNetwork: 0,
  })
})

test('planted rings among 50,000 people are found with precision and recall of at least 0.9', async () => {
  // This seed was not used to tune the detection. The benchmark endorsement-rings measures more.
  for (const seed of [101]) {
    const { edges, rings } = createEndorsementGraph({ seed })
    const found = await detectRings(edges)
    const quality = measureDetection(
      found.map(({ members }) => members),
      rings,
    )
    for (const [name, value] of Object.entries(quality)) assert.ok(value >= 0.9, `seed ${seed}: ${name} ${value}`)
  }
})
