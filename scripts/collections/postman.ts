import { type CollectionFolder, type CollectionRequest, type Field, userVariables } from './requests.ts'
import { postmanSigningScript } from './signing-script.ts'

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'

/** Stores the token of the opened session for the next requests. */
const STORE_TOKEN_SCRIPT = `if (pm.response.code === 201) pm.collectionVariables.set('sessionToken', pm.response.json().data.sessionToken)`

/** Returns a Postman collection (format 2.1). */
export function postmanCollection(folders: CollectionFolder[], pathVariables: Map<string, string>): object {
  return {
    info: {
      name: 'Attestry',
      description:
        'The Attestry APIs. Set the variables of the collection first: keyId and secret for the partner API, sessionKey for verification sessions. A script signs the requests of the partner API.',
      schema: SCHEMA,
    },
    item: folders.map(({ name, description, isSigned, groups }) => ({
      name,
      description,
      ...(isSigned ? { event: [scriptEvent('prerequest', postmanSigningScript)] } : {}),
      item: groups.map((group) => ({ name: group.name, item: group.requests.map(postmanRequest) })),
    })),
    variable: [
      ...userVariables.map(({ name, value, description, isSecret }) => ({
        key: name,
        value,
        type: isSecret ? 'secret' : 'string',
        description,
      })),
      ...[...pathVariables].map(([key, value]) => ({ key, value, type: 'string' })),
    ],
  }
}

function postmanRequest({ name, operationId, description, method, path, query, headers, body }: CollectionRequest) {
  const enabledQuery = query.filter(({ isEnabled }) => isEnabled).map((field) => `${field.name}=${field.value}`)
  return {
    name,
    ...(operationId === 'openSession' ? { event: [scriptEvent('test', STORE_TOKEN_SCRIPT)] } : {}),
    request: {
      method,
      description,
      header: [
        ...headers.map(postmanField),
        ...(body === undefined ? [] : [{ key: 'content-type', value: 'application/json' }]),
      ],
      url: {
        raw: `{{baseUrl}}${path}${enabledQuery.length > 0 ? `?${enabledQuery.join('&')}` : ''}`,
        host: ['{{baseUrl}}'],
        path: path.slice(1).split('/'),
        query: query.map(postmanField),
      },
      ...(body === undefined ? {} : { body: { mode: 'raw', raw: body, options: { raw: { language: 'json' } } } }),
    },
    response: [],
  }
}

function postmanField({ name, value, description, isEnabled }: Field) {
  return { key: name, value, description, ...(isEnabled ? {} : { disabled: true }) }
}

function scriptEvent(listen: 'prerequest' | 'test', script: string) {
  return { listen, script: { type: 'text/javascript', exec: script.trimEnd().split('\n') } }
}
