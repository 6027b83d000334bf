import { setTimeout } from 'node:timers/promises'

/** Waits until something that happens by itself has happened. */
export async function until(happened: () => boolean | Promise<boolean>, milliseconds = 20_000): Promise<void> {
  const deadline = Date.now() + milliseconds
  while (!(await happened())) {
    if (Date.now() > deadline) throw new Error(`not so after ${milliseconds} ms: ${happened}`)
    await setTimeout(20)
  }
}
