export default {
  All: 'सभी',
  '{duration} ms': '{duration} ms',
  Refresh: 'रीफ़्रेश करें',
  'Path, error code, key or request ID': 'पाथ, त्रुटि कोड, कुंजी या रिक्वेस्ट ID',
  'Failed calls': 'विफल कॉल',
  Partner: 'पार्टनर',
  call: 'कॉल',
  calls: 'कॉल',
  'Request {requestId}': 'रिक्वेस्ट {requestId}',
  'Show all calls': 'सभी कॉल दिखाएँ',
  'Calls in the last three days, newest first': 'पिछले तीन दिनों की कॉल, सबसे नई पहले',
  'No calls match these filters.': 'इन फ़िल्टर से कोई कॉल मेल नहीं खाती।',
  'No calls yet': 'अभी कोई कॉल नहीं है',
  "API calls with this organisation's {mode} keys are listed here for three days. Try {command}.":
    'इस संगठन की {mode} कुंजियों से की गई API कॉल यहाँ तीन दिन तक दिखती हैं। {command} आज़माएँ।',
  'Request ID': 'रिक्वेस्ट ID',
  'Show the expected string': 'अपेक्षित स्ट्रिंग दिखाएँ',
  'Signature mismatch': 'हस्ताक्षर मेल नहीं खाता',
  'The signature does not match this request. The server expected a signature of the string below. Compare it, byte by byte, with the string that your code signed.':
    'हस्ताक्षर इस रिक्वेस्ट से मेल नहीं खाता। सर्वर को नीचे दी गई स्ट्रिंग का हस्ताक्षर चाहिए था। इसे बाइट-दर-बाइट उस स्ट्रिंग से मिलाएँ जिस पर आपके कोड ने हस्ताक्षर किए।',
}
