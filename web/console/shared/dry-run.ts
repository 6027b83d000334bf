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
 * Shows the errors of `submitError` instead, if given.
 */
export function useDryRun<T>(request: DryRunRequest | undefined, submitError?: ApiError): DryRun<T> {
  const [response, setResponse] = useState<ApiResponse<T>>()
  const [checking, setChecking] = useState(false)
  const text = request && JSON.stringify(request)
  const current = useRef(text)
  current.current = text
  useEffect(() => {
    if (!text) {
      setResponse(undefined)
      setChecking(false)
      return
    }
    setChecking(true)
    const timer = setTimeout(async () => {
      const { path, method, body } = JSON.parse(text) as DryRunRequest
      const next = await api<T>(path, { method, body, dryRun: true })
      if (current.current !== text) return // the input has changed since
      setResponse(next)
      setChecking(false)
    }, DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [text])

  const reported = submitError?.details ?? (response && !response.ok ? response.error.details : [])
  const details = reported.map(({ path, message }) => ({ path, message: explainError(path, message) }))
  return {
    response,
    checking,
    errorAt: (path) => details.find((detail) => detail.path === path)?.message,
    errorUnder(path) {
      const found = details.find(
        (detail) => detail.path === path || detail.path.startsWith(`${path}.`) || detail.path.startsWith(`${path}[`),
      )
      if (!found || found.path === path || /^[A-Z]/.test(found.message)) return found?.message
      return `${found.path.slice(path.length + 1)} ${found.message}`
    },
  }
}
