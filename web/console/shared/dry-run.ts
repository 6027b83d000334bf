import { useEffect, useRef, useState } from 'preact/hooks'
import { type ApiError, type ApiResponse, api } from '../shell/api.ts'
import { explainError } from './explain-error.ts'

/** Long enough not to show errors in the middle of a word. */
const DEBOUNCE_MS = 400

export interface DryRun<T> {
  response: ApiResponse<T> | undefined
  checking: boolean
  /** Returns the error of exactly this field. */
  errorAt: (path: string) => string | undefined
  /** Returns the first error of this field or of a field in it. */
  errorUnder: (path: string) => string | undefined
}

interface DryRunRequest {
  path: string
  method: 'POST' | 'PUT'
  body: unknown
}

/**
 * Validates a write with the API shortly after the last change, without storing anything.
 * If `submitError` is given, its errors are returned instead.
 */
export function useDryRun<T>(request: DryRunRequest | undefined, submitError?: ApiError): DryRun<T> {
  const [response, setResponse] = useState<ApiResponse<T>>()
  const [checking, setChecking] = useState(false)
  const requestText = request && JSON.stringify(request)
  const latestText = useRef(requestText)
  latestText.current = requestText
  useEffect(() => {
    if (!requestText) {
      setResponse(undefined)
      setChecking(false)
      return
    }
    setChecking(true)
    const timer = setTimeout(async () => {
      const { path, method, body } = JSON.parse(requestText) as DryRunRequest
      const nextResponse = await api<T>(path, { method, body, dryRun: true })
      if (latestText.current !== requestText) return // the input has changed since
      setResponse(nextResponse)
      setChecking(false)
    }, DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [requestText])

  const reportedDetails = submitError?.details ?? (response && !response.ok ? response.error.details : [])
  const details = reportedDetails.map(({ path, message }) => ({ path, message: explainError(path, message) }))
  return {
    response,
    checking,
    errorAt: (path) => details.find((detail) => detail.path === path)?.message,
    errorUnder(path) {
      const fieldError = details.find(
        (detail) => detail.path === path || detail.path.startsWith(`${path}.`) || detail.path.startsWith(`${path}[`),
      )
      if (!fieldError || fieldError.path === path || !/^[a-z]/.test(fieldError.message)) return fieldError?.message
      return `${fieldError.path.slice(path.length + 1)} ${fieldError.message}`
    },
  }
}
