import { useEffect, useRef, useState } from 'preact/hooks'
import type { StudentTexts } from './texts.ts'

const MINUTE_MS = 60_000
/** Minutes left at which screen readers announce the time. */
const ANNOUNCED_MINUTES = [1, 5, 10] as const
/** From here on, the time is emphasised. */
const SHORT_MINUTES = 5
/** Time before the end at which the answers are submitted, so that they arrive in time on a slow connection. */
const SUBMIT_BEFORE_END_MS = 15_000

interface Props {
  /** Epoch milliseconds by the clock of the device. */
  endsAt: number
  pageTexts: StudentTexts
  /** Called once, shortly before the end. */
  onEnd: () => void
}

/** Shows the minutes left, and announces them at a few moments only. */
export function TimeLeft({ endsAt, pageTexts, onEnd }: Props) {
  const [leftMs, setLeftMs] = useState(() => endsAt - Date.now())
  const hasEnded = useRef(false)
  const currentOnEnd = useRef(onEnd)
  currentOnEnd.current = onEnd
  useEffect(() => {
    const timer = setInterval(() => setLeftMs(endsAt - Date.now()), 1000)
    return () => clearInterval(timer)
  }, [endsAt])
  useEffect(() => {
    if (leftMs > SUBMIT_BEFORE_END_MS || hasEnded.current) return
    hasEnded.current = true
    currentOnEnd.current()
  }, [leftMs])

  const minutes = Math.ceil(leftMs / MINUTE_MS)
  const announced = ANNOUNCED_MINUTES.find((each) => minutes <= each)
  return (
    <p class={`small ${minutes <= SHORT_MINUTES ? 'wait-text' : 'soft'}`}>
      <span role="timer">
        {leftMs <= 0 ? pageTexts.timeUp : minutes <= 1 ? pageTexts.lessThan(1) : pageTexts.minutesLeft(minutes)}
      </span>
      <span class="hidden-text" aria-live="polite">
        {announced === undefined ? '' : leftMs <= 0 ? pageTexts.timeUp : pageTexts.lessThan(announced)}
      </span>
    </p>
  )
}
