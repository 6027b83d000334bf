import { Field } from '../ui/field.tsx'
import type { Credentials } from './credentials.ts'
import type { CredentialKind } from './operations.ts'
import type { FieldErrors } from './request.ts'

interface Props {
  kinds: CredentialKind[]
  credentials: Credentials
  errors: FieldErrors
  onChange: (credentials: Credentials) => void
}

interface Input {
  name: keyof Credentials
  label: string
  hint: string
  isSecret: boolean
}

const inputs: Record<CredentialKind, Input[]> = {
  signature: [
    { name: 'keyId', label: 'Key ID', hint: 'Starts with VFN_TEST_.', isSecret: false },
    { name: 'secret', label: 'Secret', hint: 'Starts with VFN_SK_. It is not sent.', isSecret: true },
  ],
  key: [{ name: 'sessionKey', label: 'Session key', hint: 'Starts with VSK_TEST_.', isSecret: true }],
  session: [
    {
      name: 'sessionToken',
      label: 'Session token',
      hint: 'Starts with vst_. “Open a session” fills it in.',
      isSecret: true,
    },
  ],
}

/** Inputs for the TEST credentials that an operation needs. */
export function CredentialFields({ kinds, credentials, errors, onChange }: Props) {
  if (kinds.length === 0) return null
  return (
    <section class="card fields" aria-labelledby="credentials-heading">
      <h2 id="credentials-heading">TEST credentials</h2>
      <p class="soft small">
        They are stored in this browser tab until you close it. The first <code>npm start</code> prints the keys of the
        demo organisation and stores them in <code>.attestry/demo-keys.json</code>. On another server, ask its operator
        for a TEST key.
      </p>
      {kinds.flatMap((kind) =>
        inputs[kind].map(({ name, label, hint, isSecret }) => (
          <Field key={name} id={`credential-${name}`} label={label} hint={hint} error={errors[name]}>
            {(attributes) => {
              const common = {
                ...attributes,
                autocomplete: 'off',
                spellcheck: false,
                value: credentials[name],
                onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
                  onChange({ ...credentials, [name]: currentTarget.value.trim() }),
              }
              return isSecret ? <input type="password" {...common} /> : <input type="text" {...common} />
            }}
          </Field>
        )),
      )}
    </section>
  )
}
