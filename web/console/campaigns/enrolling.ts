import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { explained } from '../shared/explain-error.ts'
import type { Campaign, CandidateInput, Enrolment } from '../shared/records.ts'
import { type Answer, api, type Refusal } from '../shell/api.ts'
import type { Mode } from '../shell/session.ts'

const MOST_IN_CALL: Record<Mode, number> = { test: 100, live: 1000 }
/** The API takes 256 KB; a little is left for what stands around the rows. */
const MOST_BYTES = 240_000
const PAUSE = 400

export interface Chunk {
  /** The place of its first row. */
  from: number
  candidates: CandidateInput[]
}

/** So many rows a call as the API takes. */
export function chunksOf(candidates: CandidateInput[], mode: Mode): Chunk[] {
  const chunks: Chunk[] = []
  const encoder = new TextEncoder()
  let bytes = 0
  for (const [index, candidate] of candidates.entries()) {
    const size = encoder.encode(JSON.stringify(candidate)).length + 1
    const last = chunks.at(-1)
    if (last && last.candidates.length < MOST_IN_CALL[mode] && bytes + size <= MOST_BYTES) {
      last.candidates.push(candidate)
      bytes += size
    } else {
      chunks.push({ from: index, candidates: [candidate] })
      bytes = size
    }
  }
  return chunks
}

/** What the rows are sent to: a campaign that is there, or one that the first call makes. */
export interface Target {
  at: (path: string) => string
  mode: Mode
  campaignId: string | undefined
  /** Of a new campaign. */
  about: { mandate_id: string; name?: string; starts_at?: string }
}

export interface Enrolled {
  campaign: Campaign
  enrolment?: Enrolment
}

export type RowFaults = Map<number, { field: string; message: string }[]>

export interface RosterCheck {
  faults: RowFaults
  refusal: Refusal | undefined
  /** How many rows the API has looked at. */
  checked: number
  checking: boolean
}

const NOTHING: RosterCheck = { faults: new Map(), refusal: undefined, checked: 0, checking: false }

const ROW = /^candidates\[(\d+)\](?:\.(.*))?$/

/** Asks the API what it would say to every row; nothing is kept there. A chunk that has not changed is not asked about again. */
export function useRosterCheck({ at, mode, campaignId, about }: Target, candidates: CandidateInput[]): RosterCheck {
  const [state, setState] = useState<RosterCheck>(NOTHING)
  const { mandate_id } = about
  const wanted = useMemo(() => ({ candidates, campaignId, mandate_id }), [candidates, campaignId, mandate_id])
  const current = useRef(wanted)
  current.current = wanted
  const answers = useRef(new Map<string, Answer<Enrolled>>())
  useEffect(() => {
    if (candidates.length === 0 || !(campaignId || mandate_id)) return setState(NOTHING)
    setState((before) => ({ ...before, checking: true }))
    const timer = setTimeout(() => void check(), PAUSE)
    return () => clearTimeout(timer)
  }, [wanted])
  return state

  async function check() {
    const faults: RowFaults = new Map()
    let refusal: Refusal | undefined
    let checked = 0
    for (const chunk of chunksOf(candidates, mode)) {
      const answer = await ask(chunk.candidates)
      if (current.current !== wanted) return // changed meanwhile
      if (!answer.ok) refusal = noteFaults(faults, chunk.from, answer.refusal)
      checked += chunk.candidates.length
      const going = checked < candidates.length && !refusal
      setState({ faults: new Map(faults), refusal, checked, checking: going })
      if (refusal) return
    }
  }

  async function ask(rows: CandidateInput[]): Promise<Answer<Enrolled>> {
    const key = JSON.stringify([campaignId, mandate_id, rows])
    const known = answers.current.get(key)
    if (known) return known
    const target = { at, mode, campaignId, about: { mandate_id } }
    const answer = await patiently(() => send(target, rows, { dryRun: true }))
    if (answer.ok || answer.refusal.status === 400) answers.current.set(key, answer)
    return answer
  }
}

/** Notes what is wrong with which row; answers the refusal where it is about more than rows. */
function noteFaults(faults: RowFaults, from: number, refusal: Refusal): Refusal | undefined {
  let ofRows = 0
  for (const { path, message } of refusal.details) {
    const [, index, field = ''] = ROW.exec(path) ?? []
    if (index === undefined) continue
    ofRows += 1
    noteFault(faults, from + Number(index), { field, message: explained(field, message) })
  }
  return ofRows > 0 && ofRows === refusal.details.length ? undefined : refusal
}

function noteFault(faults: RowFaults, row: number, fault: { field: string; message: string }) {
  faults.set(row, [...(faults.get(row) ?? []), fault])
}

export function send(
  { at, campaignId, about }: Target,
  candidates: CandidateInput[] | undefined,
  options: { dryRun?: boolean; idempotencyKey?: string },
): Promise<Answer<Enrolled>> {
  if (campaignId) return api<Enrolled>(at(`/campaigns/${campaignId}/candidates`), { body: { candidates }, ...options })
  return api<Enrolled>(at('/campaigns'), { body: { ...about, ...(candidates ? { candidates } : {}) }, ...options })
}

/** A call that came too early is made again a little later. */
export async function patiently<T>(call: () => Promise<Answer<T>>): Promise<Answer<T>> {
  for (let left = 20; ; left--) {
    const answer = await call()
    if (answer.ok || left === 0 || (answer.refusal.status !== 429 && answer.refusal.status !== 0)) return answer
    await new Promise((wake) => setTimeout(wake, 1000))
  }
}
