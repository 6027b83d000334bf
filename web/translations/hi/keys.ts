export default {
  Verifications: 'सत्यापन',
  Limits: 'सीमाएँ',
  'All calls': 'सभी कॉल',
  Kind: 'प्रकार',
  'Rotate secret': 'नया सीक्रेट बनाएँ',
  'Skill requests': 'कौशल के अनुरोध',
  'Allowed addresses of {keyId}': '{keyId} के लिए अनुमत पते',
  'Calls with this key from any other address are rejected. The change takes effect within one second.':
    'किसी भी दूसरे पते से इस कुंजी की कॉल अस्वीकार कर दी जाती हैं। बदलाव एक सेकंड के भीतर लागू हो जाता है।',
  'Name of the key': 'कुंजी का नाम',
  'Save name': 'नाम सहेजें',
  'Where the key is used, such as “Greenhouse production”. Lists, reminders and logs show it.':
    'कुंजी कहाँ इस्तेमाल होती है, जैसे “Greenhouse production”। सूचियों, रिमाइंडर और लॉग में यही नाम दिखता है।',
  'Save addresses': 'पते सहेजें',
  'Allowed addresses (optional)': 'अनुमत पते (वैकल्पिक)',
  'IP addresses or CIDR ranges such as 203.0.113.0/24, one per line. Leave empty to allow any address.':
    'IP पते या CIDR रेंज, जैसे 203.0.113.0/24, हर लाइन में एक। हर पते को अनुमति देने के लिए खाली छोड़ें।',
  'Websites that embed pages': 'पेज एम्बेड करने वाली वेबसाइटें',
  'Conversations, verifications and reports can be shown in a frame on these websites only. Pages on a website that you remove stop working at once.':
    'बातचीत, सत्यापन और रिपोर्ट केवल इन वेबसाइटों के फ़्रेम में दिखाई जा सकती हैं। जिस वेबसाइट को आप हटाएँगे, उस पर ये पेज तुरंत काम करना बंद कर देंगे।',
  'Allowed origins': 'अनुमत ओरिजिन',
  'Origins such as https://careers.example.com, one per line. In TEST mode, also http://localhost:3000, or http://localhost:* for every port.':
    'ओरिजिन, जैसे https://careers.example.com, हर लाइन में एक। टेस्ट मोड में http://localhost:3000 भी, या हर पोर्ट के लिए http://localhost:*।',
  'Origins such as https://careers.example.com, one per line.': 'ओरिजिन, जैसे https://careers.example.com, हर लाइन में एक।',
  'Save origins': 'ओरिजिन सहेजें',
  'Line {number}: {message}': 'लाइन {number}: {message}',
  'Partner API': 'पार्टनर API',
  Permissions: 'अनुमतियाँ',
  'Last valid day (optional)': 'वैधता का आखिरी दिन (वैकल्पिक)',
  'Last valid day': 'वैधता का आखिरी दिन',
  'The key expires at the end of this day in your time zone. Leave empty for a key that does not expire.':
    'आपके टाइम ज़ोन में इस दिन के अंत में कुंजी की वैधता खत्म हो जाती है। अगर कुंजी की वैधता कभी खत्म न होनी हो, तो खाली छोड़ें।',
  'The key expires at the end of this day in your time zone. LIVE keys are valid for at most {maxDays} days.':
    'आपके टाइम ज़ोन में इस दिन के अंत में कुंजी की वैधता खत्म हो जाती है। लाइव कुंजियाँ ज़्यादा से ज़्यादा {maxDays} दिन वैध रहती हैं।',
  'Rotate the secret of {keyId}?': '{keyId} के लिए नया सीक्रेट बनाएँ?',
  'Creates a new secret. The current secret stays valid for a while, so that you can switch without downtime.':
    'एक नया सीक्रेट बनेगा। मौजूदा सीक्रेट कुछ समय तक वैध रहेगा, ताकि आप काम रोके बिना नया सीक्रेट इस्तेमाल करना शुरू कर सकें।',
  'Two secrets are valid now. If you rotate, the older one (valid until {time}) expires immediately.':
    'अभी दो सीक्रेट वैध हैं। नया सीक्रेट बनाने पर पुराना सीक्रेट ({time} तक वैध) तुरंत अमान्य हो जाएगा।',
  'Keep the old secret valid for (hours)': 'पुराना सीक्रेट कितने घंटे वैध रहे',
  'Enter 0 if the old secret has leaked; it then expires immediately. Maximum: {hours}.':
    'अगर पुराना सीक्रेट लीक हो गया है तो 0 दर्ज करें; तब वह तुरंत अमान्य हो जाएगा। अधिकतम: {hours}।',
  'It is shown only once.': 'यह केवल एक बार दिखाया जाता है।',
  'Key ID': 'कुंजी ID',
  'the key ID': 'कुंजी ID',
  Secret: 'सीक्रेट',
  'The old secret stays valid until {time}.': 'पुराना सीक्रेट {time} तक वैध रहेगा।',
  'The old secret is no longer valid.': 'पुराना सीक्रेट अब वैध नहीं है।',
  'The key is valid until {time}.': 'कुंजी {time} तक वैध है।',
  'I have copied it': 'मैंने कॉपी कर लिया है',
  'Calls per recruiter': 'प्रति रिक्रूटर कॉल',
  Reads: 'डेटा पढ़ना',
  'Skill search': 'कौशल खोज',
  'Skill lookup': 'कौशल लुकअप',
  'Skill match, extract': 'कौशल मिलाना, टेक्स्ट से निकालना',
  'Workflow changes': 'वर्कफ़्लो में बदलाव',
  'Job changes': 'जॉब में बदलाव',
  'Campaign changes': 'अभियान में बदलाव',
  'Question bank changes': 'सवाल बैंक में बदलाव',
  'This key is in cooldown until {time}.': 'यह कुंजी {time} तक कूलडाउन में है।',
  'Each bar shows the calls in the current minute and the limit per minute. The other limits are in smaller text.':
    'हर पट्टी मौजूदा मिनट की कॉल और प्रति मिनट की सीमा दिखाती है। बाकी सीमाएँ छोटे अक्षरों में हैं।',
  'Calls in the current minute': 'मौजूदा मिनट की कॉल',
  '{perSecond} per second, bursts of {burst}': 'प्रति सेकंड {perSecond}, एक साथ {burst} तक',
  '{perSecond} per second, bursts of {burst}, {perDay} per day':
    'प्रति सेकंड {perSecond}, एक साथ {burst} तक, प्रति दिन {perDay}',
  'People enrolled today (IST)': 'आज (IST) जोड़े गए लोग',
  'different people contacted': 'अलग-अलग लोग जिनसे संपर्क किया गया',
  '{name}: {perSecond} per second, bursts of {burst}, {perMinute} per minute.':
    '{name}: प्रति सेकंड {perSecond}, एक साथ {burst} तक, प्रति मिनट {perMinute}।',
  'Partner keys sign calls to the partner API. Session keys start verifications of students. These keys can access only {mode} data.':
    'पार्टनर कुंजियों से पार्टनर API की कॉल पर हस्ताक्षर होते हैं। सत्र कुंजियों से छात्रों के सत्यापन शुरू होते हैं। ये कुंजियाँ केवल {mode} डेटा तक पहुँच सकती हैं।',
  '1 key expires within 30 days. Create a new key, use it in your system, and revoke the old one.':
    '1 कुंजी की वैधता 30 दिनों के भीतर खत्म हो जाएगी। नई कुंजी बनाएँ, उसे अपने सिस्टम में इस्तेमाल करें और पुरानी कुंजी निरस्त करें।',
  '{count} keys expire within 30 days. Create a new key, use it in your system, and revoke the old one.':
    '{count} कुंजियों की वैधता 30 दिनों के भीतर खत्म हो जाएगी। नई कुंजी बनाएँ, उसे अपने सिस्टम में इस्तेमाल करें और पुरानी कुंजी निरस्त करें।',
  'No {mode} keys yet': 'अभी कोई {mode} कुंजी नहीं है',
  'Create a key to call the API from your system.': 'अपने सिस्टम से API कॉल करने के लिए कुंजी बनाएँ।',
  'session key': 'सत्र कुंजी',
  'partner key': 'पार्टनर कुंजी',
  Scopes: 'स्कोप',
  '{count} scopes': '{count} स्कोप',
  'old secret valid until {time}': 'पुराना सीक्रेट {time} तक वैध',
  Expires: 'वैधता की समाप्ति',
  never: 'कभी नहीं',
  'created {time}': '{time} को बनाई गई',
  'Allowed from': 'कहाँ से अनुमति है',
  'any address': 'कोई भी पता',
  Addresses: 'पते',
  'Current limit usage': 'सीमाओं का मौजूदा इस्तेमाल',
}
