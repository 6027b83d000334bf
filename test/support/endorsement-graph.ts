import type { EvidenceCode } from '../../server/verification/endorsements/evidence.ts'
import type { EndorsementEdge } from '../../server/verification/endorsements/ring-detection.ts'

/**
 * A synthetic graph of endorsements: an honest background of companies, colleges and clients, and planted rings that also have honest
 * endorsements. All rates are assumptions; they are listed here and in the decision record, and no real data was used.
 */

interface GraphOptions {
  seed: number
  people?: number
  rings?: number
  /** Endorsements that each member of a ring receives from and gives to outsiders, at most. */
  maxCamouflage?: number
  /** Share of endorsements between honest colleagues that are returned. */
  reciprocity?: number
  /** Rate at which an endorsement inside a ring has the facts of a fake: a quick answer, the same network or device. */
  carelessness?: number
}

export interface SyntheticGraph {
  edges: EndorsementEdge[]
  /** The mailboxes of each planted ring. */
  rings: string[][]
}

interface Person {
  company: number
  team: number
  isManager: boolean
  studentMailbox: string
  reviewerMailbox: string
}

type RelationType = EndorsementEdge['type']

export function createEndorsementGraph(options: GraphOptions): SyntheticGraph {
  const { seed, people: peopleCount = 50_000, maxCamouflage = 4, reciprocity = 0.35, carelessness = 1 } = options
  const ringCount = options.rings ?? Math.round(peopleCount / 300)
  const random = createRandom(seed)
  const chance = (probability: number) => random() < probability
  const below = (limit: number) => Math.floor(random() * limit)
  const pick = <T>(list: T[]): T => list[below(list.length)]!
  const edges: EndorsementEdge[] = []
  const edgeKeys = new Set<string>()

  function addEdge(reviewer: string, student: string, type: RelationType, facts: EvidenceCode[]) {
    const key = `${reviewer} ${student}`
    if (reviewer === student || edgeKeys.has(key)) return
    edgeKeys.add(key)
    edges.push({ reviewer, student, type, facts })
  }

  function addHonestEdge(reviewer: Person, student: Person, type: RelationType) {
    const facts: EvidenceCode[] = [type === 'peer' ? 'peer_relation' : 'saw_the_work']
    if (reviewer.reviewerMailbox.endsWith('@gmail.com')) facts.push('free_mail')
    else facts.push(chance(0.6) ? 'company_domain' : chance(0.75) ? 'no_website' : 'other_domain')
    if (chance(0.08)) facts.push('quick_answer')
    if (chance(0.005)) facts.push('same_device')
    else if (chance(reviewer.company === student.company ? 0.1 : 0.02)) facts.push('same_network')
    addEdge(reviewer.reviewerMailbox, student.studentMailbox, type, facts)
  }

  // Companies and college classes of many sizes. Small companies often have no domain of their own.
  const people: Person[] = []
  const teams: Person[][] = []
  const companies: Person[][] = []
  const classes: Person[][] = []
  while (people.length < peopleCount) {
    const isClass = chance(0.12)
    const size = isClass ? 20 + below(40) : Math.min(1500, Math.floor(2 / (1 - random()) ** 0.9))
    const company = companies.length + classes.length
    const hasDomain = isClass ? chance(0.4) : chance(size < 10 ? 0.5 : 0.95)
    const members: Person[] = []
    for (let index = 0; index < size; index++) {
      const personal = `p${people.length}@gmail.com`
      const work = hasDomain ? `p${people.length}@c${company}.example` : personal
      const team = isClass ? teams.length + Math.floor(index / 6) : teams.length + Math.floor(index / 8)
      const person = {
        company,
        team,
        isManager: index % 8 === 0 && !isClass,
        studentMailbox: chance(0.6) ? personal : work,
        reviewerMailbox: chance(0.75) ? work : personal,
      }
      members.push(person)
      people.push(person)
    }
    for (const person of members) {
      teams[person.team] ??= []
      teams[person.team]!.push(person)
    }
    const organisations = isClass ? classes : companies
    organisations.push(members)
  }
  const classCompanies = new Set(classes.map(([first]) => first!.company))
  const teachers = new Map<number, Person>(
    classes.map(([first], index) => [
      first!.company,
      {
        company: first!.company,
        team: -1,
        isManager: true,
        studentMailbox: `t${index}@gmail.com`,
        reviewerMailbox: `t${index}@c${first!.company}.example`,
      },
    ]),
  )

  // Honest endorsements: managers and teachers, colleagues who often return the favour, and clients elsewhere.
  for (const person of people) {
    const requests = Math.min(8, Math.floor(-Math.log(1 - random()) * 2.2))
    const team = teams[person.team]!
    for (let count = 0; count < requests; count++) {
      const kind = random()
      if (kind < 0.3) {
        const colleague = pick(team)
        addHonestEdge(colleague, person, 'peer')
        if (chance(reciprocity)) addHonestEdge(person, colleague, 'peer')
      } else if (kind < 0.75) {
        const teacher = teachers.get(person.company)
        const manager = teacher ?? team.find(({ isManager }) => isManager)!
        addHonestEdge(manager, person, teacher ? 'faculty' : 'manager')
        if (!teacher && chance(0.015)) addHonestEdge(person, manager, 'manager') // the roles changed over the years
      } else if (kind < 0.85 && !classCompanies.has(person.company)) {
        addHonestEdge(pick(companies[below(companies.length)]!), person, 'mentor')
      } else addHonestEdge(pick(people), person, 'client')
    }
  }

  // Honest teams in which nearly everyone endorses everyone: the hardest background.
  for (let count = 0; count < peopleCount / 600; count++) {
    const team = pick(teams).slice(0, 4 + below(3))
    for (const reviewer of team) {
      for (const student of team) {
        if (chance(0.3)) addHonestEdge(reviewer, student, student.isManager || chance(0.8) ? 'peer' : 'mentor')
      }
    }
  }

  // Rings: a cycle, a cycle with chords, returned favours in a circle, or nearly everyone with everyone.
  const rings: string[][] = []
  for (let index = 0; index < ringCount; index++) {
    const size = 3 + below(10)
    const hasOwnDomain = chance(0.2)
    const members = Array.from({ length: size }, (_, member) =>
      hasOwnDomain ? `m${member}@ring${index}.example` : `r${index}m${member}@gmail.com`,
    )
    rings.push(members)
    const shape = pick(size <= 6 ? ['cycle', 'chords', 'circle', 'clique'] : ['chords', 'circle', 'clique'])
    const density = 0.45 + random() * 0.45
    members.forEach((reviewer, position) => {
      const next = members[(position + 1) % size]!
      addRingEdge(reviewer, next)
      if (shape === 'circle') addRingEdge(next, reviewer)
      if (shape === 'chords') for (let chord = 0; chord < 2; chord++) addRingEdge(reviewer, pick(members))
      if (shape === 'clique') for (const student of members) if (chance(density)) addRingEdge(reviewer, student)
    })
    for (const mailbox of members) {
      const member = { company: -1, team: -1, isManager: false, studentMailbox: mailbox, reviewerMailbox: mailbox }
      for (let count = below(maxCamouflage + 1); count > 0; count--) {
        const outsider = pick(people)
        addHonestEdge(outsider, member, chance(0.4) ? 'peer' : 'manager')
        if (chance(0.15)) addHonestEdge(member, outsider, 'peer')
      }
      for (let count = below(maxCamouflage / 2 + 1); count > 0; count--) addHonestEdge(member, pick(people), 'peer')
    }

    function addRingEdge(reviewer: string, student: string) {
      const type = pick<RelationType>(['manager', 'manager', 'mentor', 'client', 'peer', 'peer'])
      const facts: EvidenceCode[] = [type === 'peer' ? 'peer_relation' : 'saw_the_work']
      facts.push(!hasOwnDomain ? 'free_mail' : chance(0.6) ? 'company_domain' : 'no_website')
      if (chance(0.08 + 0.3 * carelessness)) facts.push('quick_answer')
      if (chance(0.005 + 0.08 * carelessness)) facts.push('same_device')
      else if (chance(0.05 + 0.2 * carelessness)) facts.push('same_network')
      addEdge(reviewer, student, type, facts)
    }
  }
  return { edges, rings }
}

/** Returns a generator of numbers from 0 to 1 that depends on the seed only (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export interface DetectionQuality {
  /** Share of reported people who belong to a planted ring, and share of planted people who were reported. */
  memberPrecision: number
  memberRecall: number
  /** The same for whole groups. A group is found if it shares at least half of the people of both with a planted ring. */
  ringPrecision: number
  ringRecall: number
}

export function measureDetection(found: string[][], rings: string[][]): DetectionQuality {
  const ringByMember = new Map(rings.flatMap((ring, index) => ring.map((member) => [member, index] as const)))
  const foundMembers = new Set(found.flat())
  const matchedRings = new Set<number>()
  let matchedGroups = 0
  for (const group of found) {
    const overlaps = new Map<number, number>()
    for (const member of group) {
      const ring = ringByMember.get(member)
      if (ring !== undefined) overlaps.set(ring, (overlaps.get(ring) ?? 0) + 1)
    }
    const [ring, overlap] = [...overlaps].sort(([, first], [, second]) => second - first)[0] ?? [-1, 0]
    if (overlap === 0 || overlap / (group.length + rings[ring]!.length - overlap) < 0.5) continue
    matchedGroups++
    matchedRings.add(ring)
  }
  const plantedFound = [...foundMembers].filter((member) => ringByMember.has(member)).length
  return {
    memberPrecision: plantedFound / foundMembers.size,
    memberRecall: plantedFound / ringByMember.size,
    ringPrecision: matchedGroups / found.length,
    ringRecall: matchedRings.size / rings.length,
  }
}
