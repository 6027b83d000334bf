import { Command } from 'commander'
import type { Event } from '../../sdk/index.ts'
import { examples } from '../examples.ts'
import { readOpenApi, sampleEvents } from '../openapi.ts'
import { print } from '../print.ts'
import { readProfile } from '../profile.ts'
import { parseHttpUrl, parseWebhookSecret, postSigned, RESPONSE_TIMEOUT_MS } from '../signed-delivery.ts'
import { listenSecret } from './listen.ts'

interface Options {
  forwardTo?: string
  secret?: string
  profile?: string
}

export function triggerCommand(): Command {
  return new Command('trigger')
    .description('Send a sample event to a URL, signed like a webhook delivery; without a type, list the types')
    .argument('[type]', 'event type, such as result.completed')
    .option('--forward-to <url>', 'target URL, such as http://localhost:3000/webhooks', parseHttpUrl)
    .option('--secret <whsec>', 'signing secret (default: the one of "attestry listen")', parseWebhookSecret)
    .addHelpText(
      'after',
      `
The sample is the example of the server's API description: it has the fields of a real event, but the server neither stores it nor
delivers it to webhook endpoints. To create real events, run "attestry fixtures campaign" with a TEST key.
The exit code is 0 if the target accepted the event with 2xx.`,
    )
    .addHelpText(...examples('trigger', 'trigger result.completed --forward-to http://localhost:3000/webhooks'))
    .action(async (type: string | undefined, _options: object, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const { baseUrl, source } = await readProfile(process.env, options.profile)
      console.error(`Using the server ${baseUrl} of ${source}.`)
      const samples = sampleEvents(await readOpenApi(baseUrl))
      if (type === undefined) {
        const types = [...samples.keys()].sort()
        print(command, types, () => types.join('\n'))
        return
      }
      const sample = samples.get(type)
      if (!sample)
        throw new Error(`unknown event type ${type}; expected one of ${[...samples.keys()].sort().join(', ')}`)
      const event = { ...sample, created_at: new Date().toISOString() } as Omit<Event, 'delivery'>
      if (!options.forwardTo) {
        print(command, event, () => JSON.stringify(event, null, 2))
        return
      }
      const secret = options.secret ?? (await listenSecret())
      const { status, accepted, durationMs } = await postSigned(options.forwardTo, event, secret).catch((error) => {
        throw new Error(describeFailure(options.forwardTo!, error))
      })
      console.error(`Sent ${type} to ${options.forwardTo}, signed with ${secret}`)
      print(command, { status, accepted }, () => `The target responded with ${status} in ${Math.round(durationMs)} ms.`)
      if (!accepted) process.exitCode = 1
    })
}

function describeFailure(url: string, error: Error & { cause?: { code?: string } }): string {
  const { hostname, host } = new URL(url)
  if (error.name === 'TimeoutError')
    return `${url} did not respond within ${RESPONSE_TIMEOUT_MS / 1000} s; check that your program responds to each webhook`
  const code = error.cause?.code
  if (code === 'ECONNREFUSED')
    return `no program is listening at ${host} (${code}); start your webhook endpoint, or check the port in --forward-to`
  if (code === 'ENOTFOUND') return `the host ${hostname} was not found (${code}); check its name in --forward-to`
  return `sending to ${url} failed: ${code ?? error.message}; check that --forward-to is the URL of your webhook endpoint`
}
