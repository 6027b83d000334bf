import { useEffect, useRef, useState } from 'preact/hooks'
import type { StudentTexts } from './texts.ts'

const MINUTE_MS = 60_000
/** Minutes left at which screen readers announce the time. */
const ANNOUNCED_MINUTES = [1, 5, 10] as const
/** Minutes left at which the time is emphasised. */
const EMPHASISED_MINUTES = 5
/** Time before the end at which the answers are submitted, so that a failed submission can be repeated. */
const SUBMIT_BEFORE_END_MS = 30_000
/** Browsers run the timers of hidden pages once a minute or not at all, so hidden pages submit earlier. */
const SUBMIT_HIDDEN_BEFORE_END_MS = 75_000

interface Props {
  /** Time of `performance.now()` at which the attempt ends. The clock of the device may be corrected at any time. */
  endsAt: number
  pageTexts: StudentTexts
  /** Called about every second from shortly before the end, with the time left. */
  onNearEnd: (leftMs: number) => void
  /** Called when the page is shown again before that. Some devices stop `performance.now()` while they sleep. */
  onShown: () => void
}

/** Shows the minutes left, and announces them at a few moments only. */
export function TimeLeft({ endsAt, pageTexts, onNearEnd, onShown }: Props) {
  const [leftMs, setLeftMs] = useState(() => endsAt - performance.now())
  const callbacks = useRef({ onNearEnd, onShown })
  callbacks.current = { onNearEnd, onShown }
  useEffect(() => {
    update()
    const timer = setInterval(update, 1000)
    document.addEventListener('visibilitychange', updateVisibility)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', updateVisibility)
    }

    /** Returns whether the time is nearly over. */
    function update(): boolean {
      const left = endsAt - performance.now()
      setLeftMs(left)
      const isNearEnd = left <= (document.hidden ? SUBMIT_HIDDEN_BEFORE_END_MS : SUBMIT_BEFORE_END_MS)
      if (isNearEnd) callbacks.current.onNearEnd(left)
      return isNearEnd
    }

    function updateVisibility() {
      const isNearEnd = update()
      if (!document.hidden && !isNearEnd) callbacks.current.onShown()
    }
  }, [endsAt])

  const minutes = Math.ceil(leftMs / MINUTE_MS)
  const announced = ANNOUNCED_MINUTES.find((each) => minutes <= each)
  return (
    <p class={`small ${minutes <= EMPHASISED_MINUTES ? 'wait-text' : 'soft'}`}>
      <span role="timer">
        {leftMs <= 0
          ? pageTexts.timeUp
          : minutes <= 1
            ? pageTexts.lessThanMinutesLeft(1)
            : pageTexts.minutesLeft(minutes)}
      </span>
      <span class="hidden-text" aria-live="polite">
        {announced === undefined ? '' : leftMs <= 0 ? pageTexts.timeUp : pageTexts.lessThanMinutesLeft(announced)}
      </span>
    </p>
  )
}
