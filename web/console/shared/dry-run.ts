import { useEffect, useRef, useState } from 'preact/hooks'
import { type Answer, api, type Refusal } from '../shell/api.ts'
import { explained } from './explain-error.ts'

/** Long enough that nobody is corrected in the middle of a word. */
const PAUSE = 400

export interface Check<T> {
  answer: Answer<T> | undefined
  checking: boolean
  /** What the API says about exactly this field. */
  at: (path: string) => string | undefined
  /** What it says about this field or anything in it. */
  under: (path: string) => string | undefined
}

interface Wanted {
  path: string
  method: 'POST' | 'PUT'
  body: unknown
}

/** Asks the API what it would say to this very write, a moment after the last change; nothing is kept there. */
export function useDryRun<T>(wanted: Wanted | undefined, refused?: Refusal): Check<T> {
  const [answer, setAnswer] = useState<Answer<T>>()
  const [checking, setChecking] = useState(false)
  const text = wanted && JSON.stringify(wanted)
  const current = useRef(text)
  current.current = text
  useEffect(() => {
    if (!text) {
      setAnswer(undefined)
      setChecking(false)
      return
    }
    setChecking(true)
    const timer = setTimeout(async () => {
      const { path, method, body } = JSON.parse(text) as Wanted
      const next = await api<T>(path, { method, body, dryRun: true })
      if (current.current !== text) return // typed on meanwhile
      setAnswer(next)
      setChecking(false)
    }, PAUSE)
    return () => clearTimeout(timer)
  }, [text])

  const said = refused?.details ?? (answer && !answer.ok ? answer.refusal.details : [])
  const details = said.map(({ path, message }) => ({ path, message: explained(path, message) }))
  return {
    answer,
    checking,
    at: (path) => details.find((detail) => detail.path === path)?.message,
    under(path) {
      const found = details.find(
        (detail) => detail.path === path || detail.path.startsWith(`${path}.`) || detail.path.startsWith(`${path}[`),
      )
      return found && (found.path === path ? found.message : `${found.path.slice(path.length + 1)} ${found.message}`)
    },
  }
}
