import type { RefObject } from 'preact'
import type { ReceivedResponse, SentRequest } from './request.ts'

interface Props {
  request: SentRequest
  response: ReceivedResponse
  heading: RefObject<HTMLHeadingElement | null>
}

/** Shows a response with its headers, and the request that was sent. */
export function ResponseView({ request, response, heading }: Props) {
  const { status, statusText, durationMs, headers, body } = response
  const isSuccess = status >= 200 && status < 300
  return (
    <section class="card fields" aria-labelledby="response-heading">
      <h2 id="response-heading" ref={heading} tabIndex={-1}>
        Response
      </h2>
      <p>
        <span class={`status ${isSuccess ? 'good-text' : 'bad-text'}`}>
          {status} {statusText}
        </span>{' '}
        <span class="soft small">in {durationMs} ms</span>
      </p>
      <Block label="Response body" text={body} />
      <details>
        <summary>Response headers</summary>
        <Block label="Response headers" text={formatHeaders(headers)} />
      </details>
      <details>
        <summary>Request that was sent</summary>
        <Block
          label="Request that was sent"
          text={`${request.method} ${request.target}\n${formatHeaders(Object.entries(request.headers))}${request.body === undefined ? '' : `\n\n${request.body}`}`}
        />
      </details>
      {request.signedLines !== undefined && (
        <details>
          <summary>Text that was signed</summary>
          <Block label="Text that was signed" text={request.signedLines} />
        </details>
      )}
    </section>
  )
}

/** A block that can scroll, and therefore can be focused with the keyboard. */
function Block({ label, text }: { label: string; text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable with the keyboard
    <section class="block" tabIndex={0} aria-label={label}>
      <pre>{text}</pre>
    </section>
  )
}

function formatHeaders(headers: [name: string, value: string][]): string {
  return headers.map(([name, value]) => `${name}: ${value}`).join('\n')
}
