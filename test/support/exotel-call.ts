import type { TestApp } from './app.ts'
import type { ProviderRequest } from './provider.ts'

/** The parameters of a Gather applet that Exotel documents, with their types. */
const GATHER_PARAMETERS: Record<string, string> = {
  gather_prompt: 'object',
  max_input_digits: 'number',
  finish_on_key: 'string',
  input_timeout: 'number',
  repeat_menu: 'number',
  repeat_gather_prompt: 'object',
}

/**
 * Simulates the call flow that the guide describes: a Gather applet, and a Passthru applet that continues with the Gather applet after
 * the status 200 and hangs up after 302. Both send the details of the call as query parameters.
 */
export function exotelCall(app: TestApp, [gatherUrl, passthruUrl]: string[], { id, body }: ProviderRequest) {
  const details = { CallSid: id, CallFrom: body.From, CallTo: body.CallerId, Direction: 'outbound-dial' }
  const request = (url: string, parameters: Record<string, string>) => {
    const query = new URLSearchParams({ ...details, CustomField: body.CustomField, ...parameters })
    return app.fetch(`${url.replace(app.url, '')}?${query}`, { redirect: 'manual' })
  }
  return {
    /** Requests what the Gather applet says, and checks the response as Exotel does. */
    async gather(parameters: Record<string, string> = {}) {
      const { status, headers, body: response } = await request(gatherUrl!, parameters)
      if (status !== 200 || !/^application\/json/.test(headers.get('content-type') ?? ''))
        throw new Error(`the call is dropped: ${status} ${JSON.stringify(response)}`)
      for (const [name, value] of Object.entries(response))
        if (typeof value !== GATHER_PARAMETERS[name]) throw new Error(`${name} is not a parameter of the Gather applet`)
      const { gather_prompt, max_input_digits, input_timeout, repeat_menu, repeat_gather_prompt } = response
      return {
        text: gather_prompt.text as string,
        repeatedText: repeat_gather_prompt?.text as string | undefined,
        maxDigits: max_input_digits as number,
        /** The last words of a call are not repeated, and the applet waits only briefly for keys. */
        isLast: repeat_menu === 0 && input_timeout === 1,
      }
    },
    /** Sends pressed keys with the Passthru applet, in quotation marks as Exotel does. Returns whether the flow continues. */
    async press(keys: string, parameters: Record<string, string> = {}) {
      const { status } = await request(passthruUrl!, { digits: `"${keys}"`, ...parameters })
      if (status !== 200 && status !== 302) throw new Error(`unexpected status ${status}`)
      return status === 200
    },
    /** Sends the report about the end of the call. */
    report: (Status: string, seconds = 0, fields: object = {}) =>
      app.fetch(body.StatusCallback.replace(app.url, ''), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          CallSid: id,
          EventType: 'terminal',
          Status,
          From: body.From,
          Direction: 'outbound-api',
          CustomField: body.CustomField,
          ConversationDuration: 0,
          Legs: [{ OnCallDuration: seconds, Status }],
          ...fields,
        }),
      }),
  }
}
