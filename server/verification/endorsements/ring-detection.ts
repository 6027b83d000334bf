import { setImmediate } from 'node:timers/promises'
import type { EndorsementType } from '../schema.ts'
import type { EvidenceCode } from './evidence.ts'

/**
 * Finds groups of people who endorse each other: pairs, directed cycles of up to six people, and clusters that are made of such cycles.
 *
 * An honest graph has few short cycles, because most endorsements go from managers, teachers and clients to students who never endorse
 * them. The search therefore keeps only the endorsements that lie on a short cycle, splits them where a single link holds two parts
 * together, and scores each part. The work per endorsement is bounded, so that the time grows linearly with their number.
 */

/** An endorsement between two mailboxes. */
export interface EndorsementEdge {
  reviewer: string
  student: string
  type: EndorsementType
  facts: EvidenceCode[]
}

export const ringKinds = ['pair', 'cycle', 'cluster'] as const

/** Counts that explain a finding. */
export interface RingEvidence {
  /** Endorsements between members, and how many would be expected if everyone endorsed at random. */
  endorsements: number
  expectedEndorsements: number
  /** Pairs of members who endorsed each other. */
  reciprocalPairs: number
  /** Length of the shortest cycle through members. */
  shortestCycle: number
  /** Share of the endorsements that members received, which came from other members. */
  insideShare: number
  /** Endorsements between members as manager, mentor, client or teacher: these relations rarely go in a circle. */
  superiorRelations: number
  freeOrDisposableMail: number
  quickAnswers: number
  sameDeviceOrNetwork: number
}

export interface Ring {
  kind: (typeof ringKinds)[number]
  members: string[]
  score: number
  evidence: RingEvidence
}

const MAX_CYCLE_LENGTH = 6
/** Depth of the search from the student and from the reviewer; together with the endorsement itself, they make a longest cycle. */
const FORWARD_DEPTH = 3
const BACKWARD_DEPTH = 2
/** Maximum number of people that the search for a cycle visits. Popular reviewers would otherwise make it slow. */
const MAX_VISITED = 400

/** Score of an endorsement by the length of the shortest cycle it lies on. Long cycles also arise by chance. */
const CYCLE_SCORES: Record<number, number> = { 2: 0.7, 3: 1.2, 4: 1.2, 5: 1.1, 6: 1 }
/** Score of an endorsement by a colleague that was returned, in addition: honest colleagues do this often. */
const MUTUAL_PEER_SCORE = -0.6
/** Scores of the facts of an endorsement that lies on a cycle. */
const FACT_SCORES: Partial<Record<EvidenceCode, number>> = {
  saw_the_work: 0.5,
  peer_relation: -0.8,
  company_domain: -0.2,
  free_mail: 0.2,
  disposable_mail: 1,
  quick_answer: 0.7,
  same_network: 0.5,
  same_device: 1.5,
}
/** Score that each member must outweigh: without it, large loose groups would score higher than small tight ones. */
const MEMBER_COST = 0.6
/** Lowest score of a link when deciding who belongs to a group. Whether the group is reported depends on the true scores. */
const MIN_LINK_SCORE = 0.3
/** Lowest score of a reported group. Tuned on the seeds named in bench/endorsement-rings.ts, and measured on others. */
const MIN_RING_SCORE = 3.5

/** Number of endorsements that are searched before other work of the process gets a turn. */
const EDGES_PER_TURN = 200

/** Detects rings. Several endorsements between the same two mailboxes count once, with the highest score. */
export async function detectRings(edges: Iterable<EndorsementEdge> | AsyncIterable<EndorsementEdge>): Promise<Ring[]> {
  const graph = await buildGraph(edges)
  const cycleLengths = await findCycleLengths(graph)
  return findGroups(graph, cycleLengths)
    .map((group) => scoreGroup(graph, cycleLengths, group))
    .filter(({ score }) => score >= MIN_RING_SCORE)
    .sort((first, second) => second.score - first.score)
}

/** Compressed adjacency lists: the neighbours of node n are at the indices from `start[n]` to `start[n + 1]`. */
interface Adjacency {
  start: Uint32Array
  nodes: Uint32Array
  /** The endorsement that leads to the neighbour. */
  edges: Uint32Array
}

interface Graph {
  mailboxes: string[]
  reviewers: Uint32Array
  students: Uint32Array
  /** Sum of the scores of the facts of each endorsement. */
  factScores: Float32Array
  facts: EvidenceCode[][]
  given: Adjacency
  received: Adjacency
}

async function buildGraph(edges: Iterable<EndorsementEdge> | AsyncIterable<EndorsementEdge>): Promise<Graph> {
  const mailboxes: string[] = []
  const nodeByMailbox = new Map<string, number>()
  const nodeOf = (mailbox: string) => {
    let node = nodeByMailbox.get(mailbox)
    if (node === undefined) {
      node = mailboxes.push(mailbox) - 1
      nodeByMailbox.set(mailbox, node)
    }
    return node
  }
  const edgeByNodes = new Map<number, number>()
  const reviewers: number[] = []
  const students: number[] = []
  const factScores: number[] = []
  const facts: EvidenceCode[][] = []
  for await (const edge of edges) {
    const [reviewer, student] = [nodeOf(edge.reviewer), nodeOf(edge.student)]
    if (reviewer === student) continue
    const factScore = edge.facts.reduce((sum, fact) => sum + (FACT_SCORES[fact] ?? 0), 0)
    const key = reviewer * 2 ** 26 + student
    const existing = edgeByNodes.get(key)
    if (existing === undefined) {
      edgeByNodes.set(key, reviewers.push(reviewer) - 1)
      students.push(student)
      factScores.push(factScore)
      facts.push(edge.facts)
    } else if (factScores[existing]! < factScore) {
      factScores[existing] = factScore
      facts[existing] = edge.facts
    }
  }
  const from = Uint32Array.from(reviewers)
  const to = Uint32Array.from(students)
  return {
    mailboxes,
    reviewers: from,
    students: to,
    factScores: Float32Array.from(factScores),
    facts,
    given: buildAdjacency(mailboxes.length, from, to),
    received: buildAdjacency(mailboxes.length, to, from),
  }
}

function buildAdjacency(nodeCount: number, from: Uint32Array, to: Uint32Array): Adjacency {
  const start = new Uint32Array(nodeCount + 1)
  for (const node of from) start[node + 1]!++
  for (let node = 0; node < nodeCount; node++) start[node + 1]! += start[node]!
  const next = start.slice()
  const nodes = new Uint32Array(from.length)
  const edges = new Uint32Array(from.length)
  from.forEach((node, edge) => {
    const index = next[node]!++
    nodes[index] = to[edge]!
    edges[index] = edge
  })
  return { start, nodes, edges }
}

/** Returns for each endorsement the length of the shortest cycle it lies on, or 0 if there is none of at most six people. */
async function findCycleLengths({ mailboxes, reviewers, students, given, received }: Graph): Promise<Uint8Array> {
  const isOnCycle = findCyclicNodes(mailboxes.length, given, received)
  const lengths = new Uint8Array(reviewers.length)
  const distances = new Map<number, number>()
  for (let edge = 0; edge < reviewers.length; edge++) {
    if (edge % EDGES_PER_TURN === 0) await setImmediate()
    const [reviewer, student] = [reviewers[edge]!, students[edge]!]
    if (isOnCycle[reviewer] && isOnCycle[student]) lengths[edge] = shortestCycle(reviewer, student)
  }
  return lengths

  /** Searches a path from the student to the reviewer, from both ends. */
  function shortestCycle(reviewer: number, student: number): number {
    distances.clear()
    visit(student, given, FORWARD_DEPTH, (node, depth) => void distances.set(node, depth))
    let length = distances.has(reviewer) ? distances.get(reviewer)! + 1 : 0
    if (length > 0 && length <= FORWARD_DEPTH) return length
    visit(reviewer, received, BACKWARD_DEPTH, (node, depth) => {
      const forwardDistance = distances.get(node)
      if (forwardDistance === undefined) return
      const total = forwardDistance + depth + 1
      if (length === 0 || total < length) length = total
    })
    return length > MAX_CYCLE_LENGTH ? 0 : length
  }

  function visit(
    origin: number,
    { start, nodes }: Adjacency,
    maxDepth: number,
    onVisit: (node: number, depth: number) => void,
  ) {
    const seen = new Set([origin])
    let frontier = [origin]
    onVisit(origin, 0)
    for (let depth = 1; depth <= maxDepth && seen.size < MAX_VISITED; depth++) {
      const nextFrontier: number[] = []
      for (const node of frontier) {
        for (let index = start[node]!; index < start[node + 1]! && seen.size < MAX_VISITED; index++) {
          const neighbour = nodes[index]!
          if (!isOnCycle[neighbour] || seen.has(neighbour)) continue
          seen.add(neighbour)
          nextFrontier.push(neighbour)
          onVisit(neighbour, depth)
        }
      }
      frontier = nextFrontier
    }
  }
}

/** Marks the nodes that can lie on a cycle: removes, again and again, the nodes that nobody endorses or that endorse nobody. */
function findCyclicNodes(nodeCount: number, given: Adjacency, received: Adjacency): Uint8Array {
  const isCyclic = new Uint8Array(nodeCount).fill(1)
  const givenCounts = Uint32Array.from({ length: nodeCount }, (_, node) => given.start[node + 1]! - given.start[node]!)
  const receivedCounts = Uint32Array.from(
    { length: nodeCount },
    (_, node) => received.start[node + 1]! - received.start[node]!,
  )
  const removed: number[] = []
  const removeIfEnd = (node: number) => {
    if (!isCyclic[node] || (givenCounts[node]! > 0 && receivedCounts[node]! > 0)) return
    isCyclic[node] = 0
    removed.push(node)
  }
  for (let node = 0; node < nodeCount; node++) removeIfEnd(node)
  for (let node = removed.pop(); node !== undefined; node = removed.pop()) {
    for (let index = given.start[node]!; index < given.start[node + 1]!; index++) {
      receivedCounts[given.nodes[index]!]!--
      removeIfEnd(given.nodes[index]!)
    }
    for (let index = received.start[node]!; index < received.start[node + 1]!; index++) {
      givenCounts[received.nodes[index]!]!--
      removeIfEnd(received.nodes[index]!)
    }
  }
  return isCyclic
}

type Neighbours = Map<number, Map<number, number>>

/** Returns the groups to score: tightly linked parts of the endorsements on cycles, and pairs that are not in such a part. */
function findGroups(graph: Graph, cycleLengths: Uint8Array): number[][] {
  const { reviewers, students } = graph
  const neighbours: Neighbours = new Map()
  const link = (first: number, second: number, score: number) => {
    const scores = neighbours.get(first) ?? new Map<number, number>()
    neighbours.set(first, scores)
    scores.set(second, (scores.get(second) ?? 0) + score)
  }
  const pairs: number[][] = []
  cycleLengths.forEach((length, edge) => {
    if (length === 0) return
    const [reviewer, student] = [reviewers[edge]!, students[edge]!]
    const score = edgeScore(graph, edge, length)
    link(reviewer, student, Math.max(score, MIN_LINK_SCORE))
    link(student, reviewer, Math.max(score, MIN_LINK_SCORE))
    if (length === 2 && reviewer < student) pairs.push([reviewer, student])
  })
  const groups = splitAtBridges(neighbours).flatMap((part) => dropLooseMembers(neighbours, part))
  const groupOf = new Map(groups.flatMap((group, index) => group.map((node) => [node, index] as const)))
  const otherPairs = pairs.filter(([first, second]) => {
    const group = groupOf.get(first!)
    return group === undefined || group !== groupOf.get(second!)
  })
  return [...groups, ...otherPairs]
}

/**
 * Returns how much an endorsement on a cycle of this length adds to the score of a group. Below zero, it indicates ordinary colleagues.
 */
function edgeScore({ factScores, facts }: Graph, edge: number, cycleLength: number): number {
  const isMutualPeerEndorsement = cycleLength === 2 && facts[edge]!.includes('peer_relation')
  return CYCLE_SCORES[cycleLength]! + factScores[edge]! + (isMutualPeerEndorsement ? MUTUAL_PEER_SCORE : 0)
}

/** Splits the graph into its 2-edge-connected parts of at least three nodes, with the algorithm of Tarjan without recursion. */
function splitAtBridges(neighbours: Neighbours): number[][] {
  const order = new Map<number, number>()
  const lowest = new Map<number, number>()
  const parts: number[][] = []
  const openNodes: number[] = []
  for (const root of neighbours.keys()) {
    if (order.has(root)) continue
    const path: { node: number; parent: number; rest: Iterator<number> }[] = []
    const enter = (node: number, parent: number) => {
      order.set(node, order.size)
      lowest.set(node, order.get(node)!)
      openNodes.push(node)
      path.push({ node, parent, rest: neighbours.get(node)!.keys() })
    }
    enter(root, -1)
    while (path.length > 0) {
      const { node, parent, rest } = path.at(-1)!
      const { value: next, done } = rest.next()
      if (!done) {
        if (next === parent) continue
        if (order.has(next)) lowest.set(node, Math.min(lowest.get(node)!, order.get(next)!))
        else enter(next, node)
        continue
      }
      path.pop()
      if (parent >= 0) lowest.set(parent, Math.min(lowest.get(parent)!, lowest.get(node)!))
      if (lowest.get(node) !== order.get(node)) continue
      const part = openNodes.splice(openNodes.lastIndexOf(node))
      if (part.length >= 3) parts.push(part)
    }
  }
  return parts
}

/** Removes the members whose links to the others do not outweigh their cost, and returns the connected rest as groups. */
function dropLooseMembers(neighbours: Neighbours, part: number[]): number[][] {
  const members = new Set(part)
  const gains = new Map(part.map((node) => [node, -MEMBER_COST]))
  for (const node of part) {
    for (const [other, score] of neighbours.get(node)!) {
      if (members.has(other)) gains.set(node, gains.get(node)! + score)
    }
  }
  const loose = part.filter((node) => gains.get(node)! <= 0)
  for (let node = loose.pop(); node !== undefined; node = loose.pop()) {
    if (!members.delete(node)) continue
    for (const [other, score] of neighbours.get(node)!) {
      if (!members.has(other)) continue
      gains.set(other, gains.get(other)! - score)
      if (gains.get(other)! <= 0) loose.push(other)
    }
  }
  if (members.size === part.length) return [part]
  const remaining: Neighbours = new Map()
  for (const node of members) {
    remaining.set(node, new Map([...neighbours.get(node)!].filter(([other]) => members.has(other))))
  }
  return splitAtBridges(remaining).flatMap((rest) => dropLooseMembers(remaining, rest))
}

function scoreGroup(graph: Graph, cycleLengths: Uint8Array, group: number[]): Ring {
  const { mailboxes, reviewers, facts, given, received } = graph
  const members = new Set(group)
  const insideEdges: number[] = []
  let receivedCount = 0
  let reciprocalEdges = 0
  let expectedEndorsements = 0
  for (const node of group) {
    receivedCount += received.start[node + 1]! - received.start[node]!
    for (let index = given.start[node]!; index < given.start[node + 1]!; index++) {
      if (members.has(given.nodes[index]!)) insideEdges.push(given.edges[index]!)
    }
    const givenCount = given.start[node + 1]! - given.start[node]!
    for (const other of group) {
      if (other === node) continue
      expectedEndorsements += (givenCount * (received.start[other + 1]! - received.start[other]!)) / reviewers.length
    }
  }
  let score = -MEMBER_COST * group.length
  let shortestCycle = 0
  for (const edge of insideEdges) {
    const length = cycleLengths[edge]!
    if (length === 0) continue
    score += edgeScore(graph, edge, length)
    if (length === 2) reciprocalEdges++
    if (shortestCycle === 0 || length < shortestCycle) shortestCycle = length
  }
  const count = (...codes: EvidenceCode[]) =>
    insideEdges.filter((edge) => codes.some((code) => facts[edge]!.includes(code))).length
  const isPlainCycle = insideEdges.length === group.length && shortestCycle === group.length
  return {
    kind: group.length === 2 ? 'pair' : isPlainCycle ? 'cycle' : 'cluster',
    members: group.map((node) => mailboxes[node]!).sort(),
    score,
    evidence: {
      endorsements: insideEdges.length,
      expectedEndorsements: Math.round(expectedEndorsements * 1000) / 1000,
      reciprocalPairs: reciprocalEdges / 2,
      shortestCycle,
      insideShare: Math.round((insideEdges.length / receivedCount) * 100) / 100,
      superiorRelations: count('saw_the_work'),
      freeOrDisposableMail: count('free_mail', 'disposable_mail'),
      quickAnswers: count('quick_answer'),
      sameDeviceOrNetwork: count('same_device', 'same_network'),
    },
  }
}
