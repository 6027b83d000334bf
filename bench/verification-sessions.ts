import { Agent, request } from 'undici'
import {
  type BenchmarkOptions,
  type BenchmarkRow,
  median,
  percentile,
  runFromCommandLine,
} from './support/benchmark.ts'
import { type BenchDeployment, withServer } from './support/deployment.ts'

interface Load {
  concurrency: number
  warmUpSeconds: number
  seconds: number
  maxSessions: number
  /** A key may open 50 sessions per second. There must be enough keys that the limit is never reached. */
  keyCount: number
}

const FULL: Load = {
  concurrency: 50,
  warmUpSeconds: 2,
  seconds: 6,
  maxSessions: Number.POSITIVE_INFINITY,
  keyCount: 16,
}
const SHORT: Load = { concurrency: 5, warmUpSeconds: 0, seconds: 5, maxSessions: 30, keyCount: 1 }

/** Measures sessions from `POST /verify` to stored items (four calls), on the embedded database. */
export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const load = short ? SHORT : FULL
  return withServer({ short }, async ({ server, deployment }) => {
    const agent = new Agent({ connections: load.concurrency, pipelining: 1 })
    try {
      const keys = createSessionKeys(deployment, load.keyCount)
      await completeSessions(server.url, agent, keys, load, load.warmUpSeconds)
      const { sessionCount, elapsedMs, durationsMs } = await completeSessions(
        server.url,
        agent,
        keys,
        load,
        load.seconds,
      )
      if (sessionCount === 0) throw new Error('no session was completed')
      return [
        {
          name: `sessions from open to stored items, ${load.concurrency} concurrent`,
          value: (sessionCount * 1000) / elapsedMs,
          unit: 'sessions per second',
          note: 'four calls each; target: at least 600 per second',
          operation: 'Verification session',
        },
        { name: 'one session, median', value: median(durationsMs), unit: 'ms' },
        { name: 'one session, 99th percentile', value: percentile(durationsMs, 0.99), unit: 'ms' },
      ]
    } finally {
      await agent.close()
    }
  })
}

function createSessionKeys({ cli }: BenchDeployment, keyCount: number): string[] {
  const { org_id } = cli<{ org_id: string }>('org', 'create', '--name', 'Bench')
  return Array.from({ length: keyCount }, () => {
    const createdKey = cli<Record<string, string>>(
      'key',
      'create',
      '--org',
      org_id,
      '--mode',
      'live',
      '--kind',
      'session',
    )
    return Object.values(createdKey).find((value) => /^VSK_LIVE_.{30,}/.test(value))!
  })
}

async function completeSessions(
  url: string,
  agent: Agent,
  keys: string[],
  { concurrency, maxSessions }: Load,
  seconds: number,
) {
  const durationsMs: number[] = []
  const startedAt = performance.now()
  const end = startedAt + seconds * 1000
  let nextNumber = 0
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() < end && nextNumber < maxSessions) {
        const sessionNumber = nextNumber++
        const sessionStartedAt = performance.now()
        await completeSession(sessionNumber)
        durationsMs.push(performance.now() - sessionStartedAt)
      }
    }),
  )
  return { sessionCount: durationsMs.length, elapsedMs: performance.now() - startedAt, durationsMs }

  async function completeSession(sessionNumber: number) {
    const key = keys[sessionNumber % keys.length]!
    const { sessionToken, serviceVerificationId } = await post(
      '/verify',
      { 'x-api-key': key },
      {
        externalStudentId: `student-${sessionNumber}`,
        name: 'Asha Rao',
        email: 'asha@example.com',
        projects: [
          { externalProjectId: 'p-1', projectName: 'School hall', role: 'Mason', description: 'A hall of brick.' },
        ],
        workExperiences: [{ externalExperienceId: 'w-1', companyName: 'Metro Ltd', role: 'Fabricator' }],
      },
    )
    await post(
      '/step1/storeskills/store',
      {},
      {
        sessionToken,
        skills: [{ skillId: 'sk_1001', proofUrl: ['https://photos.example/1'] }, { skillId: 'sk_2001' }],
      },
    )
    await post(
      '/step2/verification-method',
      { 'x-session-token': sessionToken! },
      { serviceVerificationId, verificationMethod: 'human' },
    )
    await post('/step3/store-verification-items/store', {}, { sessionToken, workExperienceIds: ['w-1'] })

    async function post(path: string, headers: Record<string, string>, body: object): Promise<Record<string, string>> {
      const { statusCode, body: response } = await request(`${url}/api/v1${path}`, {
        method: 'POST',
        dispatcher: agent,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
      const text = await response.text()
      if (statusCode >= 300) throw new Error(`${path} returned ${statusCode}: ${text}`)
      return JSON.parse(text).data
    }
  }
}

if (import.meta.main) await runFromCommandLine('verification-sessions', runBenchmark)
