import { randomUUID } from 'node:crypto'
import { AttestryClient, AttestryError, type Result, verifyWebhook, type WebhookEvent } from '@attestry/sdk'
import express, { type NextFunction, type Request, type Response } from 'express'
import { jobPage, jobsPage } from './pages.ts'
import { type Job, Store } from './store.ts'

const client = new AttestryClient() // reads ATTESTRY_URL, ATTESTRY_KEY_ID and ATTESTRY_SECRET
const port = Number(process.env.PORT ?? 3000)
const publicUrl = process.env.PUBLIC_URL ?? `http://127.0.0.1:${port}`
const store = new Store(process.env.DATA_FILE ?? 'ats.json')
const app = express()

// The signature covers the bytes of the body, so this route reads them before any parser does.
app.post('/webhooks/attestry', express.raw({ type: '*/*' }), async (request, response) => {
  const secret = store.data.webhook?.secret
  let event: WebhookEvent
  try {
    event = await verifyWebhook(request.body as Buffer, request.headers, secret ?? '')
  } catch {
    response.sendStatus(401)
    return
  }
  // Applying an event twice changes nothing, so that duplicates need no list of seen events.
  applyEvent(event)
  store.save() // before the response: an acknowledged event is not sent again
  response.sendStatus(204)
})

app.use(express.urlencoded(), express.json())

app.get('/', (_request, response) => {
  response.send(jobsPage(store.data.jobs))
})

app.post('/jobs', async (request, response) => {
  const { title, city, skill_id } = readFields(request.body, ['title', 'city', 'skill_id'])
  const id = randomUUID()
  const { workflow_id } = await client.workflows.create({ name: `Workflow of ${title}`.slice(0, 100) })
  const { mandate_id } = await client.mandates.create({
    workflow_id,
    job_id: id,
    title,
    company_name: 'Metro Builders',
    location: { city },
    skills: [{ skill_id, verify: true }],
  })
  store.data.jobs.push({ id, title, mandateId: mandate_id, status: 'preparing', candidates: [] })
  // The event may have arrived before the job was stored.
  await refreshStatus(store.findJob(id)!)
  store.save()
  response.redirect(303, `/jobs/${id}`)
})

app.get('/jobs/:id', async (request, response) => {
  const job = requireJob(request)
  if (job.status === 'preparing') await refreshStatus(job)
  response.format({ html: () => response.send(jobPage(job)), json: () => response.json(job) })
})

app.post('/jobs/:id/candidates', async (request, response) => {
  const job = requireJob(request)
  const { name, phone } = readFields(request.body, ['name', 'phone'])
  if (job.status !== 'ready') throw new InputError(`The job is ${job.status}; try again when it is ready.`)
  const id = randomUUID()
  const candidates = [{ external_candidate_id: id, name, phone }]
  // The ID of the candidate as idempotency key: a retry of this call cannot enrol the person twice.
  const options = { idempotencyKey: id }
  const { enrolment, campaign } = job.campaignId
    ? await client.campaigns.enrolCandidates(job.campaignId, { candidates }, options)
    : await client.campaigns.create({ mandate_id: job.mandateId, candidates }, options)
  if (enrolment?.accepted === 0) throw new InputError('This phone number is already enrolled for this job.')
  job.campaignId = campaign.campaign_id
  job.candidates.push({ id, name, phone })
  store.save()
  response.redirect(303, `/jobs/${job.id}`)
})

app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
  if (error instanceof InputError) response.status(400).send(error.message)
  else if (error instanceof AttestryError && error.status < 500) response.status(422).send(error.message)
  else {
    console.error(error)
    response.status(502).send('Attestry cannot be reached. Try again later.')
  }
})

const server = app.listen(port, '127.0.0.1')
server.once('listening', () => void registerWebhook())

/** Creates the webhook endpoint once; its secret is returned only then. */
async function registerWebhook(): Promise<void> {
  const url = `${publicUrl}/webhooks/attestry`
  if (store.data.webhook?.url !== url) {
    const { webhook_id, secret } = await client.webhooks.create({
      url,
      event_types: ['mandate.ready', 'mandate.failed', 'result.completed', 'result.declined', 'result.failed'],
    })
    store.data.webhook = { id: webhook_id, secret, url }
    store.save()
  }
  console.log(`ATS is running at ${publicUrl}`)
}

function applyEvent(event: WebhookEvent): void {
  switch (event.type) {
    case 'mandate.ready':
    case 'mandate.failed': {
      const job = store.findJob(event.data.job_id ?? undefined)
      if (job) job.status = event.type === 'mandate.ready' ? 'ready' : 'failed'
      return
    }
    case 'result.completed':
    case 'result.declined':
    case 'result.failed':
      applyResult(event.data)
  }
}

/** Stores a result, unless a newer version is stored: events can arrive in any order. */
function applyResult(result: Result): void {
  const job = store.findJob(result.job_id ?? undefined)
  const candidate = job?.candidates.find(({ id }) => id === result.candidate.external_candidate_id)
  if (candidate && (candidate.result?.version ?? 0) < result.version) candidate.result = result
}

async function refreshStatus(job: Job): Promise<void> {
  const { status } = await client.mandates.get(job.mandateId)
  if (status === 'ready' || status === 'failed') job.status = status
}

class InputError extends Error {}

function requireJob({ params }: Request): Job {
  const job = store.findJob(String(params.id))
  if (!job) throw new InputError(`Job ${params.id} not found.`)
  return job
}

function readFields<Name extends string>(body: unknown, names: Name[]): Record<Name, string> {
  const fields = (body ?? {}) as Record<string, unknown>
  const missing = names.filter((name) => typeof fields[name] !== 'string' || fields[name] === '')
  if (missing.length > 0) throw new InputError(`These fields are required: ${missing.join(', ')}.`)
  return fields as Record<Name, string>
}
