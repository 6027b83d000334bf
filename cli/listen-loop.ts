import { setTimeout } from 'node:timers/promises'

/** Seconds that a command waits in all for a limit to let its call pass. */
export const LONGEST_WAIT = 30

export const NO_WAIT = [
  '--no-wait',
  'print a refusal for a limit (429) at once, instead of waiting and calling again',
] as const

export interface Waiting {
  /** Seconds in all; with 0 the first answer is the last. */
  longest: number
  pause?: (seconds: number) => Promise<unknown>
  tell?: (line: string) => void
}

/** Makes a call again for as long as it is over a limit: such a refusal has changed nothing, and says when the call could pass. */
export async function untilItPasses<Answer extends { status: number; headers: Headers }>(
  attempt: () => Promise<Answer>,
  { longest, pause = (seconds) => setTimeout(seconds * 1000), tell = console.error }: Waiting,
): Promise<Answer> {
  let left = longest
  for (;;) {
    const answer = await attempt()
    const seconds = secondsToWait(answer)
    if (seconds === undefined || longest === 0) return answer
    if (seconds > left) {
      const waited = left < longest ? `${longest - left} s were waited for; ` : ''
      tell(`Over a limit: ${waited}the call could pass in ${seconds} s. A command waits ${longest} s at most.`)
      return answer
    }
    tell(`Over a limit: calling again in ${seconds} s.`)
    await pause(seconds)
    left -= seconds
  }
}

/** Undefined where waiting does not help. */
export function secondsToWait({ status, headers }: { status: number; headers: Headers }): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return status === 429 && seconds >= 0 ? Math.max(1, Math.ceil(seconds)) : undefined
}
