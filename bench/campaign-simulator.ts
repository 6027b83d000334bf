import { type BenchmarkOptions, type BenchmarkRow, runFromCommandLine } from './support/benchmark.ts'
import { simulateCampaigns } from './support/simulated-campaigns.ts'

/** Measures campaigns in TEST mode from enrolment to the delivery of the last event. */
export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const campaignCount = short ? 10 : Number(process.env.BENCH_CAMPAIGNS ?? 400)
  const { candidateCount, replyCount, eventCount, enrolledAfter, completedAfter, deliveredAfter, serverCpuMs } =
    await simulateCampaigns(campaignCount)
  return [
    {
      name: 'candidates from enrolment to delivered result',
      value: candidateCount / deliveredAfter,
      unit: 'per second',
      note: `${candidateCount} candidates in ${campaignCount} campaigns, ${replyCount} replies`,
    },
    { name: 'candidates from enrolment to result', value: candidateCount / completedAfter, unit: 'per second' },
    { name: 'replies handled', value: replyCount / completedAfter, unit: 'per second' },
    { name: 'last enrolment after', value: enrolledAfter, unit: 's' },
    { name: 'last result after', value: completedAfter, unit: 's', note: 'includes about 7 s of simulated delays' },
    { name: 'last event delivered after', value: deliveredAfter, unit: 's', note: `${eventCount} events` },
    { name: 'CPU of server and jobs', value: serverCpuMs / candidateCount, unit: 'ms per candidate' },
  ]
}

if (import.meta.main) await runFromCommandLine('campaign-simulator', runBenchmark)
