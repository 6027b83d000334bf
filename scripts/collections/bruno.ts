import { type CollectionFolder, type CollectionRequest, type Field, userVariables } from './requests.ts'
import { brunoSigningScript } from './signing-script.ts'

/** Stores the token of the opened session for the next requests. */
const STORE_TOKEN_SCRIPT = `if (res.getStatus() === 201) bru.setVar('sessionToken', res.getBody().data.sessionToken)`

/** Returns the files of a Bruno collection: path → text. */
export function brunoCollection(
  folders: CollectionFolder[],
  pathVariables: Map<string, string>,
): Record<string, string> {
  const files: Record<string, string> = {
    'bruno.json': `${JSON.stringify({ version: '1', name: 'Attestry', type: 'collection', ignore: ['node_modules', '.git'] }, null, 2)}\n`,
    'collection.bru': joinBlocks(
      block('vars:pre-request', pairs([...pathVariables])),
      block(
        'docs',
        'Choose the environment Local, and set its secrets. A script signs the requests of the partner API.',
      ),
    ),
    'environments/Local.bru': joinBlocks(
      block('vars', pairs(userVariables.filter(({ isSecret }) => !isSecret).map(({ name, value }) => [name, value]))),
      `vars:secret [\n${userVariables
        .filter(({ isSecret }) => isSecret)
        .map(({ name }) => `  ${name}`)
        .join(',\n')}\n]`,
    ),
  }
  folders.forEach((folder, index) => {
    files[`${folder.name}/folder.bru`] = joinBlocks(
      block(
        'meta',
        pairs([
          ['name', folder.name],
          ['seq', String(index + 1)],
        ]),
      ),
      block('auth', 'mode: none'),
      folder.isSigned && block('script:pre-request', brunoSigningScript.trimEnd()),
      block('docs', folder.description),
    )
    folder.groups.forEach((group, groupIndex) => {
      const path = `${folder.name}/${group.name}`
      files[`${path}/folder.bru`] = joinBlocks(
        block(
          'meta',
          pairs([
            ['name', group.name],
            ['seq', String(groupIndex + 1)],
          ]),
        ),
      )
      group.requests.forEach((request, requestIndex) => {
        files[`${path}/${request.name}.bru`] = requestFile(request, requestIndex + 1)
      })
    })
  })
  return files
}

function requestFile(request: CollectionRequest, sequence: number): string {
  const { name, operationId, description, method, path, query, headers, body } = request
  const enabledQuery = query.filter(({ isEnabled }) => isEnabled).map((field) => `${field.name}=${field.value}`)
  return joinBlocks(
    block(
      'meta',
      pairs([
        ['name', name],
        ['type', 'http'],
        ['seq', String(sequence)],
      ]),
    ),
    block(
      method.toLowerCase(),
      pairs([
        ['url', `{{baseUrl}}${path}${enabledQuery.length > 0 ? `?${enabledQuery.join('&')}` : ''}`],
        ['body', body === undefined ? 'none' : 'json'],
        ['auth', 'inherit'],
      ]),
    ),
    query.length > 0 && block('params:query', fieldLines(query)),
    headers.length > 0 && block('headers', fieldLines(headers)),
    body !== undefined && block('body:json', body),
    operationId === 'openSession' && block('script:post-response', STORE_TOKEN_SCRIPT),
    block('docs', description),
  )
}

function block(name: string, content: string): string {
  const indented = content.split('\n').map((line) => (line === '' ? '' : `  ${line}`))
  return `${name} {\n${indented.join('\n')}\n}`
}

function pairs(entries: [name: string, value: string][]): string {
  return entries.map(([name, value]) => `${name}: ${value}`.trimEnd()).join('\n')
}

function fieldLines(fields: Field[]): string {
  return fields.map(({ name, value, isEnabled }) => `${isEnabled ? '' : '~'}${name}: ${value}`.trimEnd()).join('\n')
}

function joinBlocks(...blocks: (string | false)[]): string {
  return `${blocks.filter((each) => each !== false).join('\n\n')}\n`
}
