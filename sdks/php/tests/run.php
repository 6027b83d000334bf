<?php

declare(strict_types=1);

// Runs the tests: php tests/run.php

use Attestry\ApiException;
use Attestry\Client;
use Attestry\ConfigurationException;
use Attestry\ConnectionException;
use Attestry\HttpResponse;
use Attestry\Model\CampaignInput;
use Attestry\Model\MandateInput;
use Attestry\Model\MandateSkill;
use Attestry\Model\MandateStatus;
use Attestry\Model\Result;
use Attestry\RequestOptions;
use Attestry\Signature;
use Attestry\Tests\FakeTransport;
use Attestry\Webhook;
use Attestry\WebhookVerificationException;

require __DIR__ . '/../autoload.php';
require __DIR__ . '/FakeTransport.php';

error_reporting(E_ALL);
set_error_handler(static fn (int $level, string $message) => throw new ErrorException($message, 0, $level));

const KEY_ID = 'VFN_TEST_EXAMPLE';
const SECRET = 'VFN_SK_example';

/** Fails if two values are not identical. */
function same(mixed $expected, mixed $actual, string $what = 'the value'): void
{
    if ($expected !== $actual) {
        throw new LogicException("{$what} is " . var_export($actual, true) . ', not ' . var_export($expected, true));
    }
}

/**
 * Returns the exception that the function throws.
 *
 * @template T of Throwable
 * @param class-string<T> $class
 * @return T
 */
function thrown(string $class, Closure $function, string $what = 'the call'): Throwable
{
    try {
        $function();
    } catch (Throwable $exception) {
        if ($exception instanceof $class) {
            return $exception;
        }
        throw $exception;
    }
    throw new LogicException("{$what} must throw {$class}");
}

function contains(string $part, string $text): void
{
    if (!str_contains($text, $part)) {
        throw new LogicException("\"{$part}\" is missing in: {$text}");
    }
}

function success(mixed $data): HttpResponse
{
    return new HttpResponse(200, [], json_encode(['success' => true, 'data' => $data], JSON_THROW_ON_ERROR));
}

/** @param list<float> $waits */
function client(FakeTransport $transport, array &$waits = []): Client
{
    return new Client(
        'http://127.0.0.1:8080/',
        KEY_ID,
        SECRET,
        transport: $transport,
        sleep: static function (float $seconds) use (&$waits): void {
            $waits[] = $seconds;
        },
    );
}

$vectors = json_decode((string) file_get_contents(__DIR__ . '/../../vectors.json'), true, 64, JSON_THROW_ON_ERROR);

$tests = [
    'signatures match the vectors' => static function () use ($vectors): void {
        foreach ($vectors['requests'] as $vector) {
            $arguments = [
                $vector['timestamp'],
                $vector['method'],
                $vector['target'],
                $vector['on_behalf_of'],
                $vector['idempotency_key'],
                $vector['body'],
            ];
            same($vector['lines'], Signature::linesToSign(...$arguments), $vector['name']);
            same($vector['signature'], Signature::sign($vector['secret'], ...$arguments), $vector['name']);
        }
    },
    'deliveries are verified as in the vectors' => static function () use ($vectors): void {
        foreach ($vectors['webhooks'] as $vector) {
            $verify = static fn () => Webhook::verify(
                $vector['body'],
                $vector['headers'],
                $vector['secret'],
                now: $vector['now'],
            );
            if ($vector['valid']) {
                $verify();
            } else {
                thrown(WebhookVerificationException::class, $verify, $vector['name']);
            }
        }
    },
    'a signed delivery can be verified, and its data has a type' => static function (): void {
        $secret = 'whsec_' . base64_encode('a secret of twenty-four b');
        $body = '{"event_id":"EV_1","type":"result.completed","mode":"test","sequence":7,'
            . '"data":{"result_id":"RS_1","status":"completed","candidate":{"name":"आशा"}}}';
        $headers = Webhook::sign($body, 'EV_1', $secret);
        $result = Webhook::verify($body, $headers, $secret)->decodeData();
        same(true, $result instanceof Result);
        same(['RS_1', 'आशा'], [$result->resultId, $result->candidate->name]);
        $body = str_replace('result.completed', 'something.new', $body);
        $unknown = Webhook::verify($body, Webhook::sign($body, 'EV_1', $secret), $secret)->decodeData();
        same('RS_1', $unknown['result_id']);
        foreach (['', 'whsec_', 'whsec_***'] as $malformed) {
            thrown(ConfigurationException::class, static fn () => Webhook::verify($body, $headers, $malformed));
        }
    },
    'requests are signed' => static function (): void {
        $transport = new FakeTransport([success(['mandate_id' => 'JM_1', 'status' => 'preparing'])]);
        $result = client($transport)->mandates->create(
            new MandateInput('WF_1', 'राजमिस्त्री', 'A & B', [new MandateSkill(skillId: 'sk_1', verify: true)]),
            new RequestOptions(onBehalfOf: 'asha@example.com'),
        );
        same(['JM_1', MandateStatus::PREPARING], [$result->mandateId, $result->status]);
        [$request] = $transport->requests;
        same('http://127.0.0.1:8080/api/v1/partner/mandates', $request->url);
        same(
            '{"workflow_id":"WF_1","title":"राजमिस्त्री","company_name":"A & B","skills":[{"skill_id":"sk_1","verify":true}]}',
            $request->body,
        );
        same(36, strlen($request->headers['idempotency-key']), 'the length of the idempotency key');
        same(
            Signature::sign(
                SECRET,
                (int) $request->headers['x-timestamp'],
                'POST',
                '/api/v1/partner/mandates',
                'asha@example.com',
                $request->headers['idempotency-key'],
                $request->body,
            ),
            $request->headers['x-signature'],
        );
        same([KEY_ID, 'asha@example.com'], [$request->headers['x-api-key'], $request->headers['x-on-behalf-of']]);
    },
    'queries are signed as sent' => static function (): void {
        $transport = new FakeTransport([success(['items' => [], 'next_cursor' => null])]);
        client($transport)->locations->list(q: 'new delhi & नई+', limit: 10);
        $target = '/api/v1/partner/locations?q=new%20delhi%20%26%20%E0%A4%A8%E0%A4%88%2B&limit=10';
        [$request] = $transport->requests;
        same("http://127.0.0.1:8080{$target}", $request->url);
        same(
            Signature::sign(SECRET, (int) $request->headers['x-timestamp'], 'GET', $target),
            $request->headers['x-signature'],
        );
        same(false, isset($request->headers['idempotency-key']), 'the idempotency key of a read');
    },
    'a write is retried with the same idempotency key' => static function (): void {
        $waits = [];
        $transport = new FakeTransport([
            null,
            new HttpResponse(502, [], ''),
            success(['campaign' => ['campaign_id' => 'CP_1']]),
        ]);
        $result = client($transport, $waits)->campaigns->create(new CampaignInput('JM_1'));
        same('CP_1', $result->campaign->campaignId);
        $keys = array_map(static fn ($request) => $request->headers['idempotency-key'], $transport->requests);
        same([3, 1], [count($keys), count(array_unique($keys))], 'requests and keys');
        same(true, $waits[0] >= 0.25 && $waits[0] <= 0.5 && $waits[1] >= 0.5 && $waits[1] <= 1.0, 'backoff');
    },
    'any call is retried after Retry-After' => static function (): void {
        foreach ([409, 429, 503] as $status) {
            $waits = [];
            $transport = new FakeTransport([
                new HttpResponse($status, ['retry-after' => '2'], ''),
                success(['found' => [], 'missing' => []]),
            ]);
            client($transport, $waits)->skills->lookUp(['names' => ['Welding']]);
            same([2.0], $waits, "waits after status {$status}");
        }
        $transport = new FakeTransport([new HttpResponse(429, ['retry-after' => '61'], '')]);
        $exception = thrown(ApiException::class, static fn () => client($transport)->shifts->list());
        same([61.0, 1], [$exception->retryAfter, count($transport->requests)], 'a wait above the maximum');
        $transport = new FakeTransport([new HttpResponse(429, ['retry-after' => '0'], '')]);
        thrown(
            ApiException::class,
            static fn () => client($transport)->shifts->list(new RequestOptions(maxRetries: 1)),
        );
        same(2, count($transport->requests), 'requests with one retry');
    },
    'other rejections are not retried' => static function (): void {
        foreach ([400, 401, 402, 403, 404, 409, 413, 415, 422] as $status) {
            $transport = new FakeTransport([new HttpResponse($status, [], ''), success([])]);
            thrown(ApiException::class, static fn () => client($transport)->workflows->archive('WF_1'));
            same(1, count($transport->requests), "requests with status {$status}");
        }
        $transport = new FakeTransport([new HttpResponse(400, ['retry-after' => '1'], ''), success([])]);
        thrown(ApiException::class, static fn () => client($transport)->workflows->archive('WF_1'));
        same(1, count($transport->requests), 'requests with status 400 and Retry-After');
    },
    'a POST without an idempotency key is not repeated' => static function (): void {
        foreach ([null, new HttpResponse(500, [], ''), new HttpResponse(503, [], '')] as $failure) {
            $transport = new FakeTransport([$failure, success([])]);
            thrown(
                $failure === null ? ConnectionException::class : ApiException::class,
                static fn () => client($transport)->catalogue->selectSkill(['user_id' => 'u']),
            );
            same(1, count($transport->requests), 'requests');
            $headers = $transport->requests[0]->headers;
            same(false, isset($headers['x-signature']) || isset($headers['x-api-key']), 'credentials for the catalogue');
        }
    },
    'errors of the three APIs have their fields' => static function (): void {
        $details = [['path' => 'name', 'message' => 'is required']];
        $error = ['code' => 'VALIDATION_FAILED', 'message' => 'See details.', 'details' => $details];
        foreach (
            [
                ['error' => $error + ['request_id' => 'r-1', 'doc_url' => 'https://example.com/e']],
                ['error' => $error + ['requestId' => 'r-1', 'docUrl' => 'https://example.com/e']],
            ] as $body
        ) {
            $transport = new FakeTransport([new HttpResponse(400, [], (string) json_encode($body))]);
            $exception = thrown(ApiException::class, static fn () => client($transport)->workflows->create(['name' => '']));
            same(
                [400, 'VALIDATION_FAILED', 'See details.', $details, 'r-1', 'https://example.com/e'],
                [
                    $exception->status,
                    $exception->errorCode,
                    $exception->getMessage(),
                    $exception->details,
                    $exception->requestId,
                    $exception->docUrl,
                ],
            );
            contains('name: is required', $exception->describe());
        }
        $body = '{"success":false,"message":"Skill not found.","error":"Skill not found.","docUrl":"https://example.com/e"}';
        $transport = new FakeTransport([new HttpResponse(404, ['x-request-id' => 'r-2'], $body)]);
        $exception = thrown(ApiException::class, static fn () => client($transport)->catalogue->getSkill('sk_1'));
        same(
            ['Skill not found.', null, 'r-2', 'https://example.com/e'],
            [$exception->getMessage(), $exception->errorCode, $exception->requestId, $exception->docUrl],
        );
        $transport = new FakeTransport([new HttpResponse(404, [], '<html>')]);
        $exception = thrown(ApiException::class, static fn () => client($transport)->shifts->list());
        same('The server returned status 404.', $exception->getMessage());
    },
    'lists are read page by page' => static function (): void {
        $page = static fn (array $ids, ?string $next) => success([
            'items' => array_map(static fn (string $id) => ['mandate_id' => $id], $ids),
            'next_cursor' => $next,
        ]);
        $transport = new FakeTransport([$page(['a', 'b'], 'x y'), $page([], 'z'), $page(['c'], null)]);
        $ids = [];
        foreach (client($transport)->mandates->all(status: MandateStatus::READY) as $mandate) {
            $ids[] = $mandate->mandateId;
        }
        same(['a', 'b', 'c'], $ids);
        contains('status=ready&cursor=x%20y', $transport->requests[1]->url);

        $transport = new FakeTransport([
            new HttpResponse(200, [], '{"data":[{"skill_id":"1"},{"skill_id":"2"}],"page":1,"limit":2,"count":3}'),
            new HttpResponse(200, [], '{"data":[{"skill_id":"3"}],"page":2,"limit":2,"count":3}'),
        ]);
        $skills = iterator_to_array(client($transport)->catalogue->allSkills());
        same(['1', '2', '3'], array_map(static fn ($skill) => $skill->skillId, $skills));
        same(2, count($transport->requests));

        $transport = new FakeTransport([$page(['a', 'b'], 'more')]);
        foreach (client($transport)->mandates->all() as $mandate) {
            break;
        }
        same(1, count($transport->requests), 'requests after break');
    },
    'a session token is sent without a key' => static function (): void {
        $transport = new FakeTransport([success(['questions' => []])]);
        client($transport)->assessments->generate('vst_1');
        $headers = $transport->requests[0]->headers;
        same(['vst_1', false], [$headers['x-session-token'], isset($headers['x-api-key'])]);
        $open = static fn () => client($transport)->sessions->open([]);
        contains('ATTESTRY_SESSION_KEY', thrown(ConfigurationException::class, $open)->getMessage());
    },
    'a missing or malformed setting is named' => static function (): void {
        foreach (['ATTESTRY_URL', 'ATTESTRY_KEY_ID', 'ATTESTRY_SECRET', 'ATTESTRY_SESSION_KEY', 'ADMIN_API_KEY'] as $variable) {
            putenv($variable);
        }
        $url = 'http://127.0.0.1:8080';
        foreach (
            [
                ['ATTESTRY_URL is not set', []],
                ['ATTESTRY_URL or baseUrl must be', ['127.0.0.1:8080']],
                ['ATTESTRY_SECRET is not set', [$url, KEY_ID]],
                ['ATTESTRY_KEY_ID is not set', [$url, null, SECRET]],
                ['ATTESTRY_KEY_ID contains the placeholder', [$url, 'VFN_TEST_…', SECRET]],
                ['ATTESTRY_KEY_ID or keyId must be a partner key', [$url, 'VSK_TEST_X', SECRET]],
                ['ATTESTRY_SECRET contains a space', [$url, KEY_ID, SECRET . "\n"]],
                ['ATTESTRY_SECRET or secret must be', [$url, KEY_ID, KEY_ID]],
            ] as [$message, $arguments]
        ) {
            contains($message, thrown(ConfigurationException::class, static fn () => new Client(...$arguments))->getMessage());
        }
        putenv("ATTESTRY_URL={$url}");
        $exception = thrown(ConfigurationException::class, static fn () => (new Client())->shifts->list());
        contains('ATTESTRY_KEY_ID is not set', $exception->getMessage());
    },
    'an empty ID is rejected' => static function (): void {
        $transport = new FakeTransport([success([])]);
        foreach (['', '.', '..'] as $id) {
            $exception = thrown(ConfigurationException::class, static fn () => client($transport)->mandates->archive($id));
            contains('mandate_id', $exception->getMessage());
        }
        same(0, count($transport->requests));
        client($transport)->mandates->get('a/b c');
        contains('/mandates/a%2Fb%20c', $transport->requests[0]->url);
    },
    'an unreachable server is named' => static function (): void {
        $client = new Client('http://127.0.0.1:1', KEY_ID, SECRET, maxRetries: 0);
        $exception = thrown(ConnectionException::class, static fn () => $client->shifts->list());
        contains('GET http://127.0.0.1:1/api/v1/partner/shifts failed', $exception->getMessage());
        contains('Check that the server is running', $exception->getMessage());
    },
    'an untyped call returns the data' => static function (): void {
        $transport = new FakeTransport([success(['items' => [['value' => 'day']]])]);
        same('day', client($transport)->call('get', '/shifts?limit=1')['items'][0]['value']);
        same('http://127.0.0.1:8080/api/v1/partner/shifts?limit=1', $transport->requests[0]->url);
    },
];

$failures = 0;
foreach ($tests as $name => $test) {
    try {
        $test();
        echo "ok   {$name}\n";
    } catch (Throwable $exception) {
        $failures++;
        echo "FAIL {$name}\n     {$exception->getMessage()} ({$exception->getFile()}:{$exception->getLine()})\n";
    }
}
echo count($tests) - $failures . ' of ' . count($tests) . " tests passed\n";
exit($failures === 0 ? 0 : 1);
