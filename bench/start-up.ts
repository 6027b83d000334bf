import { makeDeployment, residentMegabytes } from './deployment.ts'
import { printRows, type Row } from './rows.ts'

/** From nothing, and again: time until /readyz answers, and what the server holds when nobody calls. */
export async function run(): Promise<Row[]> {
  const deployment = makeDeployment()
  try {
    const first = await deployment.start()
    await first.stop()
    const again: number[] = []
    let rss = 0
    for (let round = 0; round < 5; round++) {
      const server = await deployment.start()
      again.push(server.readyAfter)
      if (round === 4) {
        await new Promise((resolve) => setTimeout(resolve, 10_000))
        rss = await residentMegabytes(server.url)
      }
      await server.stop()
    }
    again.sort((a, b) => a - b)
    return [
      {
        name: 'first start until ready, packages installed',
        value: first.readyAfter / 1000,
        unit: 's',
        note: 'aim: under 90 with the installation',
      },
      { name: 'later starts until ready, median of 5', value: again[2]! / 1000, unit: 's', note: 'aim: under 3' },
      { name: 'memory of the server at rest', value: rss, unit: 'MB RSS', note: 'aim: under 150' },
    ]
  } finally {
    deployment.remove()
  }
}

if (import.meta.main) printRows('start-up', await run())
