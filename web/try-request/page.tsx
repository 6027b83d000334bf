import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Field } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'
import { SubmitButton } from '../ui/submit-button.tsx'
import { CredentialFields } from './credential-fields.tsx'
import { type Credentials, readCredentials, storeCredentials } from './credentials.ts'
import { renderInlineCode } from './inline-code.tsx'
import { type ApiSlug, apis, loadOperations, type Operation } from './operations.ts'
import {
  type FieldErrors,
  findErrors,
  newIdempotencyKey,
  prepareRequest,
  type ReceivedResponse,
  type RequestValues,
  type SentRequest,
  sendRequest,
} from './request.ts'
import { ResponseView } from './response-view.tsx'

interface Exchange {
  request: SentRequest
  response: ReceivedResponse
}

/** Operations that work on a new server without any other data. */
const FIRST_OPERATIONS: Record<ApiSlug, string> = {
  partner: 'listShifts',
  verification: 'openSession',
  catalogue: 'searchSkills',
}

/** Sends requests to this server: the user chooses an operation, and the page fills in its examples, signs the request and sends it. */
export function TryRequestPage() {
  const start = useMemo(() => new URLSearchParams(location.search), [])
  const [api, setApi] = useState<ApiSlug>(apis.find(({ slug }) => slug === start.get('api'))?.slug ?? 'partner')
  const [operations, setOperations] = useState<Operation[]>()
  const [operation, setOperation] = useState<Operation>()
  const [values, setValues] = useState<RequestValues>({ parameters: {}, body: '' })
  const [credentials, setCredentials] = useState<Credentials>(readCredentials)
  const [errors, setErrors] = useState<FieldErrors>({})
  const [exchange, setExchange] = useState<Exchange>()
  const [failure, setFailure] = useState('')
  const [busy, setBusy] = useState(false)
  const responseHeading = useRef<HTMLHeadingElement>(null)
  const form = useRef<HTMLFormElement>(null)

  useEffect(() => {
    let isCurrent = true
    setOperations(undefined)
    loadOperations(api).then(
      (loaded) => {
        if (!isCurrent) return
        setOperations(loaded)
        const wanted = start.get('api') === api ? start.get('operation') : null
        choose(loaded.find(({ id }) => id === wanted) ?? loaded.find(({ id }) => id === FIRST_OPERATIONS[api])!)
      },
      (error: Error) => isCurrent && setFailure(`${error.message} Reload the page to try again.`),
    )
    return () => {
      isCurrent = false
    }
  }, [api])

  useEffect(() => {
    if (exchange) responseHeading.current?.focus()
  }, [exchange])

  // The first invalid field gets the focus.
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [errors])

  return (
    <div class="sheet try stack">
      <header class="top">
        <a class="wordmark" href="/docs">
          Attestry documentation
        </a>
        <a href={`/docs/api/?api=${api}`}>API reference</a>
      </header>
      <main class="stack">
        <h1>Send a test request</h1>
        <p class="soft">
          Choose an operation, change the example values and send the request to this server. Requests of the partner
          API are signed in your browser.
        </p>
        {failure && <Notice kind="bad">{failure}</Notice>}
        <form ref={form} class="stack" noValidate onSubmit={(event) => void submit(event)}>
          <section class="card fields">
            <Field id="api" label="API">
              {(attributes) => (
                <select
                  {...attributes}
                  value={api}
                  onChange={({ currentTarget }) => {
                    setExchange(undefined)
                    setApi(currentTarget.value as ApiSlug)
                  }}
                >
                  {apis.map(({ slug, title }) => (
                    <option key={slug} value={slug}>
                      {title}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            {operations && operation ? (
              <OperationChoice operations={operations} operation={operation} onChoose={choose} />
            ) : (
              <p role="status">Loading the operations…</p>
            )}
          </section>
          {operation && operations?.includes(operation) && (
            <>
              <CredentialFields
                kinds={operation.credentials}
                credentials={credentials}
                errors={errors}
                onChange={changeCredentials}
              />
              <ParameterFields operation={operation} values={values} errors={errors} onChange={setValues} />
              <SubmitButton class="primary" busy={busy}>
                Send the request
              </SubmitButton>
            </>
          )}
        </form>
        {exchange && <ResponseView {...exchange} heading={responseHeading} />}
      </main>
    </div>
  )

  function choose(chosen: Operation) {
    const parameters = Object.fromEntries(
      chosen.parameters.map(({ name, required, example }) => [name, required ? initialValue(name, example) : '']),
    )
    setOperation(chosen)
    setValues({ parameters, body: chosen.bodyExample ?? '' })
    setErrors({})
    setExchange(undefined)
    history.replaceState(null, '', `?api=${api}&operation=${chosen.id}`)
  }

  function initialValue(name: string, example: string): string {
    // The example would return the response to an earlier request with it.
    if (name === 'Idempotency-Key') return newIdempotencyKey()
    return name === 'sessionToken' ? readCredentials().sessionToken || example : example
  }

  function changeCredentials(changed: Credentials) {
    setCredentials(changed)
    storeCredentials(changed)
  }

  async function submit(event: Event) {
    event.preventDefault()
    if (!operation || busy) return
    const found = findErrors(operation, values, credentials)
    setErrors(found)
    setFailure('')
    if (Object.keys(found).length > 0) return
    if (!globalThis.crypto?.subtle && operation.credentials.includes('signature')) {
      setFailure('The browser can sign requests only on HTTPS or localhost. Open this page with an https:// address.')
      return
    }
    setBusy(true)
    try {
      const request = await prepareRequest(operation, values, credentials)
      const response = await sendRequest(request)
      setExchange({ request, response })
      if (operation.id === 'openSession' && response.status === 201)
        changeCredentials({ ...credentials, sessionToken: JSON.parse(response.body).data.sessionToken })
    } catch (error) {
      setFailure(`The request could not be sent: ${(error as Error).message}. Check that the server is running.`)
    } finally {
      setBusy(false)
    }
  }
}

interface OperationChoiceProps {
  operations: Operation[]
  operation: Operation
  onChoose: (operation: Operation) => void
}

function OperationChoice({ operations, operation, onChoose }: OperationChoiceProps) {
  const tags = [...new Set(operations.map(({ tag }) => tag))]
  return (
    <>
      <Field id="operation" label="Operation">
        {(attributes) => (
          <select
            {...attributes}
            value={operation.id}
            onChange={({ currentTarget }) => onChoose(operations.find(({ id }) => id === currentTarget.value)!)}
          >
            {tags.map((tag) => (
              <optgroup key={tag} label={tag}>
                {operations
                  .filter((each) => each.tag === tag)
                  .map(({ id, summary }) => (
                    <option key={id} value={id}>
                      {summary}
                    </option>
                  ))}
              </optgroup>
            ))}
          </select>
        )}
      </Field>
      <p>
        <code>
          {operation.method} {operation.path}
        </code>
      </p>
      <p class="soft small">{renderInlineCode(operation.description)}</p>
    </>
  )
}

interface ParameterFieldsProps {
  operation: Operation
  values: RequestValues
  errors: FieldErrors
  onChange: (values: RequestValues) => void
}

function ParameterFields({ operation, values, errors, onChange }: ParameterFieldsProps) {
  const { parameters, bodyExample } = operation
  if (parameters.length === 0 && bodyExample === undefined) return null
  return (
    <section class="card fields" aria-labelledby="values-heading">
      <h2 id="values-heading">Values</h2>
      {parameters.map(({ name, required, description, example }) => (
        <Field
          key={name}
          id={`parameter-${name}`}
          label={required ? name : `${name} (optional)`}
          hint={renderInlineCode(
            name === 'Idempotency-Key' ? `${description} Empty: a new key for each request.` : description,
          )}
          error={errors[name]}
        >
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              autocomplete="off"
              spellcheck={false}
              placeholder={example}
              value={values.parameters[name] ?? ''}
              onInput={({ currentTarget }) =>
                onChange({ ...values, parameters: { ...values.parameters, [name]: currentTarget.value } })
              }
            />
          )}
        </Field>
      ))}
      {bodyExample !== undefined && (
        <Field id="body" label="Body (JSON)" error={errors.body}>
          {(attributes) => (
            <textarea
              {...attributes}
              spellcheck={false}
              value={values.body}
              onInput={({ currentTarget }) => onChange({ ...values, body: currentTarget.value })}
            />
          )}
        </Field>
      )}
    </section>
  )
}
