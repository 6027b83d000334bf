import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { CampaignEnrolment, CandidateInput, Mode } from '../../api-types/partner.ts'
import { explainError } from '../shared/explain-error.ts'
import { type ApiError, type ApiResponse, api } from '../shell/api.ts'

const MAX_ROWS_PER_CALL: Record<Mode, number> = { test: 100, live: 1000 }
/** Maximum size of the candidates in one call. The API accepts 256 KB, including the other properties of the request body. */
const MAX_CALL_BYTES = 240_000
const DEBOUNCE_MS = 400
const MAX_ATTEMPTS = 21
const RETRY_DELAY_MS = 1000

export interface Chunk {
  /** Index of the first candidate of this chunk in the roster. */
  firstRow: number
  candidates: CandidateInput[]
}

/** Splits candidates into chunks that the API accepts in one call. */
export function splitIntoChunks(candidates: CandidateInput[], mode: Mode): Chunk[] {
  const chunks: Chunk[] = []
  const encoder = new TextEncoder()
  let bytes = 0
  for (const [index, candidate] of candidates.entries()) {
    const byteCount = encoder.encode(JSON.stringify(candidate)).length + 1
    const lastChunk = chunks.at(-1)
    if (lastChunk && lastChunk.candidates.length < MAX_ROWS_PER_CALL[mode] && bytes + byteCount <= MAX_CALL_BYTES) {
      lastChunk.candidates.push(candidate)
      bytes += byteCount
    } else {
      chunks.push({ firstRow: index, candidates: [candidate] })
      bytes = byteCount
    }
  }
  return chunks
}

/** The campaign that candidates are added to: an existing campaign, or a new one that the first call creates. */
export interface EnrolmentTarget {
  apiPath: (path: string) => string
  mode: Mode
  campaignId: string | undefined
  /** Properties of the campaign to create, if there is no `campaignId`. */
  newCampaign: { mandate_id: string; name?: string; starts_at?: string }
}

type RowErrors = Map<number, { field: string; message: string }[]>

export interface RosterCheck {
  rowErrors: RowErrors
  error: ApiError | undefined
  /** Number of rows that the API has validated. */
  checked: number
  checking: boolean
}

const NOT_CHECKED: RosterCheck = { rowErrors: new Map(), error: undefined, checked: 0, checking: false }

const ROW_PATH = /^candidates\[(\d+)\](?:\.(.*))?$/

/** Validates every row with a dry run of the API. Chunks that have not changed are not sent again. */
export function useRosterCheck(
  { apiPath, mode, campaignId, newCampaign }: EnrolmentTarget,
  candidates: CandidateInput[],
): RosterCheck {
  const [state, setState] = useState<RosterCheck>(NOT_CHECKED)
  const { mandate_id } = newCampaign
  const request = useMemo(() => ({ candidates, campaignId, mandate_id }), [candidates, campaignId, mandate_id])
  const latestRequest = useRef(request)
  latestRequest.current = request
  const cache = useRef(new Map<string, ApiResponse<CampaignEnrolment>>())
  useEffect(() => {
    if (candidates.length === 0 || !(campaignId || mandate_id)) return setState(NOT_CHECKED)
    setState((previous) => ({ ...previous, checking: true }))
    const timer = setTimeout(() => void check(), DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [request])
  return state

  async function check() {
    const rowErrors: RowErrors = new Map()
    let error: ApiError | undefined
    let checked = 0
    for (const chunk of splitIntoChunks(candidates, mode)) {
      const response = await validate(chunk.candidates)
      if (latestRequest.current !== request) return // the rows have changed since
      if (!response.ok) error = collectRowErrors(rowErrors, chunk.firstRow, response.error)
      checked += chunk.candidates.length
      const hasUncheckedRows = checked < candidates.length && !error
      setState({ rowErrors: new Map(rowErrors), error, checked, checking: hasUncheckedRows })
      if (error) return
    }
  }

  async function validate(rows: CandidateInput[]): Promise<ApiResponse<CampaignEnrolment>> {
    const key = JSON.stringify([campaignId, mandate_id, rows])
    const cached = cache.current.get(key)
    if (cached) return cached
    const target = { apiPath, mode, campaignId, newCampaign: { mandate_id } }
    const response = await withRetries(() => enrolCandidates(target, rows, { dryRun: true }))
    if (response.ok || response.error.status === 400) cache.current.set(key, response)
    return response
  }
}

/** Adds the errors of single rows to `rowErrors`. Returns the error if it does not concern only rows. */
function collectRowErrors(rowErrors: RowErrors, firstRow: number, error: ApiError): ApiError | undefined {
  let rowErrorCount = 0
  for (const { path, message } of error.details) {
    const [, index, field = ''] = ROW_PATH.exec(path) ?? []
    if (index === undefined) continue
    rowErrorCount += 1
    addRowError(rowErrors, firstRow + Number(index), { field, message: explainError(field, message) })
  }
  return rowErrorCount > 0 && rowErrorCount === error.details.length ? undefined : error
}

/** Adds an error unless the row already has the same message for the field. */
function addRowError(rowErrors: RowErrors, row: number, error: { field: string; message: string }) {
  const errors = rowErrors.get(row) ?? []
  if (errors.some(({ field, message }) => field === error.field && message === error.message)) return
  rowErrors.set(row, [...errors, error])
}

export function enrolCandidates(
  { apiPath, campaignId, newCampaign }: EnrolmentTarget,
  candidates: CandidateInput[] | undefined,
  options: { dryRun?: boolean; idempotencyKey?: string },
): Promise<ApiResponse<CampaignEnrolment>> {
  if (campaignId)
    return api<CampaignEnrolment>(apiPath(`/campaigns/${campaignId}/candidates`), { body: { candidates }, ...options })
  return api<CampaignEnrolment>(apiPath('/campaigns'), {
    body: { ...newCampaign, ...(candidates ? { candidates } : {}) },
    ...options,
  })
}

/** Retries a call that was rate limited or could not reach the server. */
export async function withRetries<T>(call: () => Promise<ApiResponse<T>>): Promise<ApiResponse<T>> {
  for (let attempt = 1; ; attempt++) {
    const response = await call()
    if (response.ok || attempt === MAX_ATTEMPTS || (response.error.status !== 429 && response.error.status !== 0))
      return response
    await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY_MS))
  }
}
