/** A request that code samples send. */
export interface SampleRequest {
  method: string
  /** Path and query. */
  path: string
  /** The body as JSON text; undefined without a body. */
  body: string | undefined
  /** Whether the request is signed with a partner key. */
  isSigned: boolean
  isIdempotent: boolean
  /** Headers whose values are secrets, by the environment variable that contains them. */
  secretHeaders: Record<string, string>
}

export interface CodeSample {
  lang: string
  label: string
  source: string
}

/** Returns samples of a request that use only the standard library of each language. Their secrets come from environment variables. */
export function codeSamples(request: SampleRequest): CodeSample[] {
  return [
    { lang: 'Shell', label: 'curl', source: curlSample(request) },
    { lang: 'TypeScript', label: 'TypeScript', source: typeScriptSample(request) },
    { lang: 'Python', label: 'Python', source: pythonSample(request) },
    { lang: 'Go', label: 'Go', source: goSample(request) },
    { lang: 'Java', label: 'Java', source: javaSample(request) },
    { lang: 'PHP', label: 'PHP', source: phpSample(request) },
  ]
}

type Expressions = Record<'timestamp' | 'signature' | 'idempotencyKey', string> & { env: (name: string) => string }

/** Returns the headers of a request as expressions of a language. */
function headersOf(request: SampleRequest, { timestamp, signature, idempotencyKey, env }: Expressions) {
  const headers: [name: string, expression: string][] = []
  if (request.isSigned)
    headers.push(['x-api-key', env('ATTESTRY_KEY_ID')], ['x-timestamp', timestamp], ['x-signature', signature])
  for (const [name, variable] of Object.entries(request.secretHeaders)) headers.push([name, env(variable)])
  if (request.isIdempotent) headers.push(['Idempotency-Key', idempotencyKey])
  return headers
}

function lines(...parts: (string | false | undefined)[]): string {
  return parts.filter((part) => typeof part === 'string').join('\n')
}

function curlSample(request: SampleRequest): string {
  const { method, path, body, isSigned, isIdempotent } = request
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const headers = headersOf(request, {
    timestamp: '$timestamp',
    signature: 'v1=$signature',
    idempotencyKey: '$idempotency_key',
    env: (name) => `$${name}`,
  }).map(([name, value]) => `-H "${name}: ${value}"`)
  return lines(
    `path=${quote(path)}`,
    (isSigned || body !== undefined) && `body=${quote(body ?? '')}`,
    isIdempotent && 'idempotency_key=$(openssl rand -hex 16)',
    isSigned &&
      lines(
        'timestamp=$(date +%s)',
        `hash=$(printf '%s' "$body" | openssl dgst -sha256 -r | cut -d ' ' -f 1)`,
        `signature=$(printf 'VFN1\\n%s\\n${method}\\n%s\\n\\n%s\\n%s' "$timestamp" "$path" "${isIdempotent ? '$idempotency_key' : ''}" "$hash" |`,
        `  openssl dgst -sha256 -hmac "$ATTESTRY_SECRET" -r | cut -d ' ' -f 1)`,
      ),
    [
      `curl -X ${method} "$ATTESTRY_URL$path"`,
      ...headers,
      ...(body === undefined ? [] : [`-H 'Content-Type: application/json' --data-raw "$body"`]),
    ].join(' \\\n  '),
  )
}

function typeScriptSample(request: SampleRequest): string {
  const { method, path, body, isSigned, isIdempotent } = request
  const imports = [...(isSigned ? ['createHash', 'createHmac'] : []), ...(isIdempotent ? ['randomUUID'] : [])]
  const headers = headersOf(request, {
    timestamp: 'timestamp',
    signature: "'v1=' + signature",
    idempotencyKey: 'idempotencyKey',
    env: (name) => `process.env.${name}!`,
  }).map(([name, value]) => `    '${name}': ${value},`)
  if (body !== undefined) headers.push("    'content-type': 'application/json',")
  return lines(
    imports.length > 0 && `import { ${imports.join(', ')} } from 'node:crypto'\n`,
    `const path = '${path}'`,
    (isSigned || body !== undefined) && `const body = ${body === undefined ? "''" : `JSON.stringify(${body})`}`,
    isIdempotent && 'const idempotencyKey = randomUUID()',
    isSigned &&
      lines(
        'const timestamp = String(Math.floor(Date.now() / 1000))',
        "const hash = createHash('sha256').update(body).digest('hex')",
        `const text = ['VFN1', timestamp, '${method}', path, '', ${isIdempotent ? 'idempotencyKey' : "''"}, hash].join('\\n')`,
        "const signature = createHmac('sha256', process.env.ATTESTRY_SECRET!).update(text).digest('hex')",
      ),
    'const response = await fetch(process.env.ATTESTRY_URL + path, {',
    `  method: '${method}',`,
    headers.length > 0 && lines('  headers: {', ...headers, '  },'),
    body !== undefined && '  body,',
    '})',
    'console.log(response.status, await response.text())',
  )
}

function pythonSample(request: SampleRequest): string {
  const { method, path, body, isSigned, isIdempotent } = request
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const headers = headersOf(request, {
    timestamp: 'timestamp',
    signature: "'v1=' + signature",
    idempotencyKey: 'idempotency_key',
    env: (name) => `os.environ['${name}']`,
  }).map(([name, value]) => `    '${name}': ${value},`)
  if (body !== undefined) headers.push("    'content-type': 'application/json',")
  const imports = [
    ...(isSigned ? ['hashlib', 'hmac'] : []),
    'os',
    ...(isSigned ? ['time'] : []),
    'urllib.error',
    'urllib.request',
  ]
  return lines(
    `import ${[...imports, ...(isIdempotent ? ['uuid'] : [])].join(', ')}\n`,
    `path = ${quote(path)}`,
    (isSigned || body !== undefined) && (body === undefined ? "body = b''" : `body = ${quote(body)}.encode()`),
    isIdempotent && 'idempotency_key = str(uuid.uuid4())',
    isSigned &&
      lines(
        'timestamp = str(int(time.time()))',
        `text = '\\n'.join(['VFN1', timestamp, '${method}', path, '', ${isIdempotent ? 'idempotency_key' : "''"}, hashlib.sha256(body).hexdigest()])`,
        "signature = hmac.new(os.environ['ATTESTRY_SECRET'].encode(), text.encode(), hashlib.sha256).hexdigest()",
      ),
    headers.length === 0 ? 'headers = {}' : lines('headers = {', ...headers, '}'),
    `request = urllib.request.Request(os.environ['ATTESTRY_URL'] + path, ${body === undefined ? '' : 'data=body, '}method='${method}', headers=headers)`,
    'try:',
    '    response = urllib.request.urlopen(request)',
    'except urllib.error.HTTPError as error:',
    '    response = error',
    'print(response.status, response.read().decode())',
  )
}

function goSample(request: SampleRequest): string {
  const { method, path, body, isSigned, isIdempotent } = request
  const imports = [
    ...(isSigned ? ['crypto/hmac'] : []),
    ...(isIdempotent ? ['crypto/rand'] : []),
    ...(isSigned ? ['crypto/sha256', 'encoding/hex'] : []),
    ...['fmt', 'io', 'net/http', 'os'],
    ...(body === undefined ? [] : ['strings']),
    ...(isSigned ? ['time'] : []),
  ]
  const headers = headersOf(request, {
    timestamp: 'timestamp',
    signature: '"v1="+hex.EncodeToString(mac.Sum(nil))',
    idempotencyKey: 'idempotencyKey',
    env: (name) => `os.Getenv("${name}")`,
  }).map(([name, value]) => `\trequest.Header.Set("${name}", ${value})`)
  if (body !== undefined) headers.push('\trequest.Header.Set("Content-Type", "application/json")')
  return lines(
    'package main\n',
    'import (',
    ...imports.map((name) => `\t"${name}"`),
    ')\n',
    'func main() {',
    `\tpath := ${JSON.stringify(path)}`,
    (isSigned || body !== undefined) && `\tbody := ${JSON.stringify(body ?? '')}`,
    isIdempotent &&
      lines(
        '\trandomBytes := make([]byte, 16)',
        '\trand.Read(randomBytes)',
        '\tidempotencyKey := hex.EncodeToString(randomBytes)',
      ),
    isSigned &&
      lines(
        '\ttimestamp := fmt.Sprint(time.Now().Unix())',
        '\tmac := hmac.New(sha256.New, []byte(os.Getenv("ATTESTRY_SECRET")))',
        `\tfmt.Fprintf(mac, "VFN1\\n%s\\n${method}\\n%s\\n\\n%s\\n%x", timestamp, path, ${isIdempotent ? 'idempotencyKey' : '""'}, sha256.Sum256([]byte(body)))`,
      ),
    `\trequest, err := http.NewRequest("${method}", os.Getenv("ATTESTRY_URL")+path, ${body === undefined ? 'nil' : 'strings.NewReader(body)'})`,
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    ...headers,
    '\tresponse, err := http.DefaultClient.Do(request)',
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    '\tdefer response.Body.Close()',
    '\ttext, _ := io.ReadAll(response.Body)',
    '\tfmt.Println(response.StatusCode, string(text))',
    '}',
  )
}

function javaSample(request: SampleRequest): string {
  const { method, path, body, isSigned, isIdempotent } = request
  const headers = headersOf(request, {
    timestamp: 'timestamp',
    signature: '"v1=" + signature',
    idempotencyKey: 'idempotencyKey',
    env: (name) => `System.getenv("${name}")`,
  }).map(([name, value]) => `        .header("${name}", ${value})`)
  if (body !== undefined) headers.push('        .header("Content-Type", "application/json")')
  return lines(
    lines('import java.net.URI;', 'import java.net.http.*;'),
    isSigned &&
      lines(
        'import java.nio.charset.StandardCharsets;',
        'import java.security.MessageDigest;',
        'import java.util.*;',
        'import javax.crypto.Mac;',
        'import javax.crypto.spec.SecretKeySpec;',
      ),
    '\npublic class Example {',
    '  public static void main(String[] args) throws Exception {',
    `    String path = ${JSON.stringify(path)};`,
    (isSigned || body !== undefined) && `    String body = ${JSON.stringify(body ?? '')};`,
    isIdempotent && '    String idempotencyKey = UUID.randomUUID().toString();',
    isSigned &&
      lines(
        '    String timestamp = String.valueOf(System.currentTimeMillis() / 1000);',
        '    byte[] hash = MessageDigest.getInstance("SHA-256").digest(body.getBytes(StandardCharsets.UTF_8));',
        `    String text = String.join("\\n", "VFN1", timestamp, "${method}", path, "", ${isIdempotent ? 'idempotencyKey' : '""'}, HexFormat.of().formatHex(hash));`,
        '    Mac mac = Mac.getInstance("HmacSHA256");',
        '    mac.init(new SecretKeySpec(System.getenv("ATTESTRY_SECRET").getBytes(StandardCharsets.UTF_8), "HmacSHA256"));',
        '    String signature = HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));',
      ),
    '    HttpRequest request = HttpRequest.newBuilder(URI.create(System.getenv("ATTESTRY_URL") + path))',
    `        .method("${method}", ${body === undefined ? 'HttpRequest.BodyPublishers.noBody()' : 'HttpRequest.BodyPublishers.ofString(body)'})`,
    ...headers,
    '        .build();',
    '    HttpResponse<String> response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());',
    '    System.out.println(response.statusCode() + " " + response.body());',
    '  }',
    '}',
  )
}

function phpSample(request: SampleRequest): string {
  const { method, path, body, isSigned, isIdempotent } = request
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const headers = headersOf(request, {
    timestamp: '$timestamp',
    signature: "'v1=' . $signature",
    idempotencyKey: '$idempotencyKey',
    env: (name) => `getenv('${name}')`,
  }).map(([name, value]) => `        '${name}: ' . ${value},`.replace("' . 'v1=", 'v1='))
  if (body !== undefined) headers.push("        'Content-Type: application/json',")
  return lines(
    '<?php',
    `$path = ${quote(path)};`,
    (isSigned || body !== undefined) && `$body = ${quote(body ?? '')};`,
    isIdempotent && '$idempotencyKey = bin2hex(random_bytes(16));',
    isSigned &&
      lines(
        '$timestamp = (string) time();',
        `$text = implode("\\n", ['VFN1', $timestamp, '${method}', $path, '', ${isIdempotent ? '$idempotencyKey' : "''"}, hash('sha256', $body)]);`,
        "$signature = hash_hmac('sha256', $text, getenv('ATTESTRY_SECRET'));",
      ),
    '$context = stream_context_create([',
    "    'http' => [",
    `        'method' => '${method}',`,
    headers.length > 0 && lines("        'header' => [", ...headers.map((line) => `    ${line}`), '        ],'),
    body !== undefined && "        'content' => $body,",
    "        'ignore_errors' => true,",
    '    ],',
    ']);',
    "echo file_get_contents(getenv('ATTESTRY_URL') . $path, false, $context), PHP_EOL;",
  )
}
