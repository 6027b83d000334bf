export default {
  Edit: 'बदलें',
  Delivered: 'पहुँच गए',
  'Copy your secret now': 'अपना सीक्रेट अभी कॉपी करें',
  'the secret': 'सीक्रेट',
  Message: 'संदेश',
  Channel: 'चैनल',
  Language: 'भाषा',
  'What to do': 'क्या करें',
  Reason: 'कारण',
  Text: 'टेक्स्ट',
  Change: 'बदलाव',
  'Twilio, for numbers outside India': 'Twilio, भारत से बाहर के नंबरों के लिए',
  'Account SID of Twilio': 'Twilio का अकाउंट SID',
  'Auth token': 'ऑथ टोकन',
  'Sender number': 'भेजने वाला नंबर',
  'Such as +14155550100': 'जैसे +14155550100',
  'Account SID of Exotel': 'Exotel का अकाउंट SID',
  'API key': 'API कुंजी',
  'API token': 'API टोकन',
  'Data centre of the account': 'अकाउंट का डेटा सेंटर',
  Singapore: 'सिंगापुर',
  Mumbai: 'मुंबई',
  'Exotel shows it in the API settings.': 'यह Exotel की API सेटिंग में दिखता है।',
  'Registered header': 'रजिस्टर्ड हेडर',
  'Six letters, or six digits for promotional messages': 'छह अक्षर, या प्रचार संदेशों के लिए छह अंक',
  'DLT entity ID': 'DLT एंटिटी ID',
  'From the DLT portal': 'DLT पोर्टल से',
  'Hosts of links on the DLT whitelist': 'DLT व्हाइटलिस्ट में दर्ज लिंक के होस्ट',
  'Separated by commas, such as verify.example.com. It must contain the host of your candidate pages.':
    'कॉमा से अलग करके लिखें, जैसे verify.example.com। इसमें आपके उम्मीदवार पेजों का होस्ट होना ज़रूरी है।',
  'Exotel, for India': 'Exotel, भारत के लिए',
  'Gupshup, for India': 'Gupshup, भारत के लिए',
  'User ID of Gupshup': 'Gupshup की यूज़र ID',
  Password: 'पासवर्ड',
  'ID of the call flow': 'कॉल फ़्लो की ID',
  'Digits, from the dashboard of Exotel': 'Exotel के डैशबोर्ड में दिए अंक',
  'Caller ID': 'कॉलर ID',
  'A number of the series 140 or 1600, as Exotel shows it': '140 या 1600 सीरीज़ का नंबर, जैसा Exotel में दिखता है',
  'Languages of the voice (optional)': 'आवाज़ की भाषाएँ (वैकल्पिक)',
  'Codes separated by commas, such as en, hi. Without them, only candidates in English are called.':
    'कॉमा से अलग किए गए कोड, जैसे en, hi। इनके बिना केवल उन्हीं उम्मीदवारों को कॉल किया जाता है जिनकी भाषा अंग्रेज़ी है।',
  'WhatsApp Cloud API': 'WhatsApp Cloud API',
  'Phone number ID': 'फ़ोन नंबर ID',
  'Business account ID (optional)': 'बिज़नेस अकाउंट ID (वैकल्पिक)',
  'ID of the WhatsApp Business account. It is needed to submit registered texts and to get their status.':
    'WhatsApp Business अकाउंट की ID। रजिस्टर्ड टेक्स्ट जमा करने और उनकी स्थिति जानने के लिए इसकी ज़रूरत होती है।',
  'Access token': 'एक्सेस टोकन',
  'App secret': 'ऐप सीक्रेट',
  'Verify token': 'वेरिफ़ाई टोकन',
  'A text that you choose, for the webhook': 'वेबहुक के लिए आपका चुना हुआ टेक्स्ट',
  'Name of your own approved template (optional)': 'आपके अपने स्वीकृत टेम्पलेट का नाम (वैकल्पिक)',
  'Only if you do not use the registered texts below': 'केवल तब, जब आप नीचे दिए रजिस्टर्ड टेक्स्ट इस्तेमाल न करते हों',
  'Approved languages of your own template (optional)': 'आपके अपने टेम्पलेट की स्वीकृत भाषाएँ (वैकल्पिक)',
  'Codes separated by commas, such as en, hi': 'कॉमा से अलग किए गए कोड, जैसे en, hi',
  Provider: 'प्रोवाइडर',
  'Save settings': 'सेटिंग सहेजें',
  'The channels on which candidates are contacted in LIVE mode. TEST mode uses the simulator phone.':
    'वे चैनल जिन पर लाइव मोड में उम्मीदवारों से संपर्क किया जाता है। टेस्ट मोड में सिम्युलेटर फ़ोन इस्तेमाल होता है।',
  'Go live': 'लाइव मोड शुरू करें',
  'Your channels': 'आपके चैनल',
  'Do-not-disturb check': 'डू-नॉट-डिस्टर्ब (DND) जाँच',
  'Registered texts': 'रजिस्टर्ड टेक्स्ट',
  'Messages of the last 30 days': 'पिछले 30 दिनों के संदेश',
  Spending: 'खर्च',
  'The server has a public https address': 'सर्वर का सार्वजनिक https पता है',
  'The operator sets PUBLIC_URL to the https address at which candidates reach this server.':
    'ऑपरेटर PUBLIC_URL में वह https पता सेट करते हैं जिस पर उम्मीदवार इस सर्वर तक पहुँचते हैं।',
  'A channel can send messages': 'कोई चैनल संदेश भेज सकता है',
  'Set up one of the channels below. A channel with the status “refused” does not count.':
    'नीचे दिए चैनलों में से कोई एक सेट अप करें। “अस्वीकृत” स्थिति वाला चैनल नहीं गिना जाता।',
  'Replies and delivery reports arrive': 'जवाब और डिलीवरी रिपोर्ट मिल रही हैं',
  'Enter the webhook URL of each channel below at its provider. The step is done after the first request of each provider: for SMS by Twilio, send an SMS to your number.':
    'नीचे दिए हर चैनल का वेबहुक URL उसके प्रोवाइडर के यहाँ दर्ज करें। हर प्रोवाइडर की पहली रिक्वेस्ट आने पर यह चरण पूरा हो जाता है: Twilio के SMS के लिए अपने नंबर पर एक SMS भेजें।',
  'The basis of contacts is declared': 'संपर्क का आधार घोषित है',
  'State on the page Privacy why you may contact candidates, or send the consent of each candidate.':
    'गोपनीयता पेज पर बताएँ कि आप उम्मीदवारों से किस आधार पर संपर्क कर सकते हैं, या हर उम्मीदवार की सहमति भेजें।',
  'The privacy notice has a contact for complaints': 'गोपनीयता सूचना में शिकायतों के लिए संपर्क दिया है',
  'Enter an email address or a phone number on the page Privacy.': 'गोपनीयता पेज पर ईमेल पता या फ़ोन नंबर दर्ज करें।',
  'There are LIVE credits': 'लाइव क्रेडिट मौजूद हैं',
  'The operator grants LIVE credits. Each candidate costs one.':
    'लाइव क्रेडिट ऑपरेटर देते हैं। हर उम्मीदवार पर एक क्रेडिट लगता है।',
  'A job is ready in LIVE mode': 'लाइव मोड में एक जॉब तैयार है',
  'Switch to LIVE, and create a workflow and a job.': 'लाइव मोड में जाएँ, फिर एक वर्कफ़्लो और एक जॉब बनाएँ।',
  'A daily cap limits the cost': 'दैनिक सीमा से खर्च सीमित रहता है',
  'Set a daily cap below, under Spending.': 'नीचे “खर्च” में दैनिक सीमा तय करें।',
  'Numbers are checked against a do-not-disturb list': 'नंबरों की जाँच डू-नॉट-डिस्टर्ब (DND) सूची से होती है',
  'Enter the URL of a service of your organisation below, under Do-not-disturb check.':
    'नीचे “डू-नॉट-डिस्टर्ब (DND) जाँच” में अपने संगठन की सेवा का URL दर्ज करें।',
  'All required steps are done: you can start LIVE campaigns.': 'सभी ज़रूरी चरण पूरे हो गए हैं: आप लाइव अभियान शुरू कर सकते हैं।',
  '{openCount} of {count} required steps are not done.': '{count} ज़रूरी चरणों में से {openCount} बाकी हैं।',
  'Who can do this: operator.': 'यह कौन कर सकता है: ऑपरेटर।',
  'Who can do this: owner.': 'यह कौन कर सकता है: ओनर।',
  'Who can do this: recruiter.': 'यह कौन कर सकता है: रिक्रूटर।',
  'Open the page': 'पेज खोलें',
  'Replace settings': 'सेटिंग बदलें',
  'Set up': 'सेट अप करें',
  'The operator sets up a mail server with the command “attestry channels set”.':
    'ऑपरेटर “attestry channels set” कमांड से मेल सर्वर सेट अप करते हैं।',
  'Webhook URL, to be entered at the provider (not called yet):':
    'वेबहुक URL, जिसे प्रोवाइडर के यहाँ दर्ज करना है (अभी तक कॉल नहीं आई):',
  'Webhook URL, to be entered at the provider (called by the provider):':
    'वेबहुक URL, जिसे प्रोवाइडर के यहाँ दर्ज करना है (प्रोवाइडर की कॉल आ चुकी है):',
  'webhook URL of {name}': '{name} का वेबहुक URL',
  'Remove {name}?': '{name} को हटाएँ?',
  'Remove channel': 'चैनल हटाएँ',
  'Its credentials are deleted, and no more messages are sent on it. Candidates are contacted on other channels.':
    'इसकी लॉगिन जानकारी हटा दी जाएगी और इस पर आगे कोई संदेश नहीं भेजा जाएगा। उम्मीदवारों से दूसरे चैनलों पर संपर्क किया जाएगा।',
  'First message': 'पहला संदेश',
  'Follow-up': 'फ़ॉलो-अप',
  'Requested contact': 'अनुरोध पर संपर्क',
  Response: 'जवाब',
  'Confirmation code': 'पुष्टि कोड',
  'Messages by channel, kind and template': 'चैनल, प्रकार और टेम्पलेट के अनुसार संदेश',
  'In TEST mode, nothing is sent. Switch to LIVE to see the figures.':
    'टेस्ट मोड में कुछ नहीं भेजा जाता। आँकड़े देखने के लिए लाइव मोड में जाएँ।',
  'No messages were sent in the last 30 days.': 'पिछले 30 दिनों में कोई संदेश नहीं भेजा गया।',
  Template: 'टेम्पलेट',
  Sent: 'भेजे गए',
  Read: 'पढ़े गए',
  Blocked: 'रोके गए',
  'Failed messages by reason': 'कारण के अनुसार विफल संदेश',
  'No failed messages.': 'कोई संदेश विफल नहीं हुआ।',
  'Before the first contact, a service of your organisation can check each LIVE phone number. Candidates with a blocked number are not contacted, and their credit is refunded.':
    'पहले संपर्क से पहले आपके संगठन की कोई सेवा हर लाइव फ़ोन नंबर की जाँच कर सकती है। जिन उम्मीदवारों का नंबर रोका गया है, उनसे संपर्क नहीं किया जाता और उनका क्रेडिट वापस मिल जाता है।',
  'The numbers are sent to {url}.': 'नंबर {url} पर भेजे जाते हैं।',
  'Last check: {time}.': 'पिछली जाँच: {time}।',
  'The service has failed since {time}: {lastError} New candidates are not contacted until it responds. Repair it or remove the check.':
    'सेवा {time} से काम नहीं कर रही है: {lastError} जब तक वह जवाब नहीं देती, नए उम्मीदवारों से संपर्क नहीं किया जाएगा। सेवा ठीक करें या जाँच हटा दें।',
  'Replace the check': 'जाँच बदलें',
  'Set up a check': 'जाँच सेट अप करें',
  'Remove the check': 'जाँच हटाएँ',
  'This secret signs every request to your service, like the events of a webhook. It is shown only once.':
    'वेबहुक के इवेंट की तरह, आपकी सेवा को भेजी गई हर रिक्वेस्ट पर इस सीक्रेट से हस्ताक्षर होते हैं। यह केवल एक बार दिखाया जाता है।',
  'Remove the do-not-disturb check?': 'डू-नॉट-डिस्टर्ब (DND) जाँच हटाएँ?',
  'Remove check': 'जाँच हटाएँ',
  'Candidates who wait for the check are contacted without it.':
    'जाँच का इंतज़ार कर रहे उम्मीदवारों से बिना जाँच के संपर्क किया जाएगा।',
  'URL of the service': 'सेवा का URL',
  'An https URL. The guide “Set up channels” describes the requests.':
    'https URL। रिक्वेस्ट का विवरण “Set up channels” गाइड में है।',
  'Save check': 'जाँच सहेजें',
  '{amount} spent today (in Indian time).': 'आज (भारतीय समय के अनुसार) {amount} खर्च हुए।',
  'The prices are the default prices of the operator.': 'ये ऑपरेटर की डिफ़ॉल्ट कीमतें हैं।',
  'Daily cap in {currency} (leave empty for none)': '{currency} में दैनिक सीमा (सीमा न रखनी हो तो खाली छोड़ें)',
  'Campaigns pause before a message that would exceed it, and resume on the next day or when it is raised.':
    'जिस संदेश से सीमा पार होगी, उससे पहले अभियान रुक जाते हैं और अगले दिन या सीमा बढ़ाने पर फिर शुरू होते हैं।',
  Prices: 'कीमतें',
  'No prices.': 'कोई कीमत नहीं है।',
  Numbers: 'नंबर',
  'all others': 'बाकी सभी',
  Category: 'श्रेणी',
  'Price in {currency}': '{currency} में कीमत',
  'Price of {price}': '{price} की कीमत',
  'Save spending settings': 'खर्च की सेटिंग सहेजें',
  'With variables such as {variable} and {otherVariable}. A changed text is a draft again, and must be registered as a new template.':
    '{variable} और {otherVariable} जैसे वेरिएबल के साथ। बदला हुआ टेक्स्ट फिर से ड्राफ़्ट बन जाता है और उसे नए टेम्पलेट के रूप में रजिस्टर करना होता है।',
  'DLT template ID': 'DLT टेम्पलेट ID',
  'Enter the ID that the DLT portal assigned to this text. The text is then approved.':
    'DLT पोर्टल से इस टेक्स्ट को मिली ID दर्ज करें। इसके बाद टेक्स्ट स्वीकृत हो जाता है।',
  'Save text': 'टेक्स्ट सहेजें',
  'Other follow-ups': 'बाकी फ़ॉलो-अप',
  'Follow-up 1': 'फ़ॉलो-अप 1',
  'Follow-up 2': 'फ़ॉलो-अप 2',
  'Follow-up 3': 'फ़ॉलो-अप 3',
  'Follow-up 4': 'फ़ॉलो-अप 4',
  'Follow-up 5': 'फ़ॉलो-अप 5',
  'Review request': 'समीक्षा का अनुरोध',
  'Review reminder': 'समीक्षा का रिमाइंडर',
  'WhatsApp and mobile operators in India accept only approved texts. Register the texts there; until a text is approved, it is not used.':
    'भारत में WhatsApp और मोबाइल ऑपरेटर केवल स्वीकृत टेक्स्ट स्वीकार करते हैं। टेक्स्ट वहाँ रजिस्टर करें; स्वीकृत होने तक टेक्स्ट इस्तेमाल नहीं होता।',
  'No texts yet. The operator creates them with the command “attestry channels templates create”.':
    'अभी कोई टेक्स्ट नहीं है। ऑपरेटर इन्हें “attestry channels templates create” कमांड से बनाते हैं।',
  'Edit {template}': '{template} बदलें',
  'quality: {quality}': 'क्वालिटी: {quality}',
  green: 'हरी',
  yellow: 'पीली',
  red: 'लाल',
  'Export {channel} texts': '{channel} टेक्स्ट निर्यात करें',
  'Import of IDs': 'ID का आयात',
  'Import IDs of SMS texts': 'SMS टेक्स्ट की ID आयात करें',
  'CSV file of the DLT portal, with the columns Template Name and Template ID':
    'DLT पोर्टल की CSV फ़ाइल, जिसमें Template Name और Template ID कॉलम हों',
  'The file has no errors. It has the IDs or the status of 1 text.':
    'फ़ाइल में कोई त्रुटि नहीं है। इसमें 1 टेक्स्ट की ID या स्थिति है।',
  'The file has no errors. It has the IDs or the status of {count} texts.':
    'फ़ाइल में कोई त्रुटि नहीं है। इसमें {count} टेक्स्ट की ID या स्थिति है।',
  'Imported the IDs or the status of 1 text.': '1 टेक्स्ट की ID या स्थिति आयात हुई।',
  'Imported the IDs or the status of {count} texts.': '{count} टेक्स्ट की ID या स्थिति आयात हुई।',
  'Your email address, for a test message': 'टेस्ट संदेश के लिए आपका ईमेल पता',
  'Your phone number, for a test message': 'टेस्ट संदेश के लिए आपका फ़ोन नंबर',
  'Send a test message': 'टेस्ट संदेश भेजें',
  'The provider accepted the message.': 'प्रोवाइडर ने संदेश स्वीकार कर लिया।',
  'The provider rejected the message: {error}. {remedy}': 'प्रोवाइडर ने संदेश अस्वीकार कर दिया: {error}। {remedy}',
  'Check the phone numbers or email addresses of your list. Add a second channel to the workflow for people who do not use this one.':
    'अपनी सूची के फ़ोन नंबर या ईमेल पते जाँचें। जो लोग यह चैनल इस्तेमाल नहीं करते, उनके लिए वर्कफ़्लो में दूसरा चैनल जोड़ें।',
  'Follow up at another time of day or on another channel.': 'किसी और समय या किसी और चैनल से दोबारा संपर्क करें।',
  'No action is needed: the next follow-up tries again. Use a second channel for urgent jobs.':
    'कुछ करने की ज़रूरत नहीं: अगली बार फिर कोशिश की जाएगी। जल्दी वाले जॉब के लिए दूसरा चैनल भी रखें।',
  'Do not contact this person again. If it happens often, check the basis of the contact and the text of the first message.':
    'इस व्यक्ति से फिर संपर्क न करें। ऐसा बार-बार हो, तो संपर्क का आधार और पहला संदेश जाँचें।',
  'Try again after a day or on another channel. For people who applied, have a template approved in the category utility.':
    'एक दिन बाद या किसी और चैनल से कोशिश करें। जिन लोगों ने आवेदन किया है, उनके लिए “utility” श्रेणी का टेम्पलेट स्वीकृत कराएँ।',
  'No action is needed if a template is set up: Attestry sends it instead. Otherwise set up a template.':
    'टेम्पलेट सेट हो, तो कुछ करने की ज़रूरत नहीं: Attestry उसे ही भेजता है। नहीं तो एक टेम्पलेट सेट करें।',
  'Compare the registered text in Attestry with the one at the DLT portal or WhatsApp, and have it approved again.':
    'Attestry में रजिस्टर किए गए टेक्स्ट को DLT पोर्टल या WhatsApp के टेक्स्ट से मिलाएँ, और उसे फिर स्वीकृत कराएँ।',
  'Check dlt_entity_id in the channel settings, and the status of your entity in the DLT portal.':
    'चैनल की सेटिंग में dlt_entity_id, और DLT पोर्टल में अपनी एंटिटी की स्थिति जाँचें।',
  'Approve the chain of telemarketers (PE-TM binding) of your SMS provider in the DLT portal.':
    'DLT पोर्टल में अपने SMS प्रोवाइडर की टेलीमार्केटर चेन (PE-TM बाइंडिंग) स्वीकृत करें।',
  'Check from in the channel settings, and the status of the header in the DLT portal.':
    'चैनल की सेटिंग में from, और DLT पोर्टल में हेडर की स्थिति जाँचें।',
  'Contact only people who agreed, register the consent template in the DLT portal, or set up a DND check.':
    'केवल सहमति देने वालों से संपर्क करें, DLT पोर्टल में सहमति का टेम्पलेट रजिस्टर करें, या DND जाँच सेट करें।',
  'Check the category of the channel and the hours in data/rules.': 'चैनल की श्रेणी, और data/rules में दिए गए घंटे जाँचें।',
  'For SMS to India, use a registered header and template. Check that the host of PUBLIC_URL is on the whitelist.':
    'भारत में SMS के लिए रजिस्टर किया हुआ हेडर और टेम्पलेट इस्तेमाल करें। देखें कि PUBLIC_URL का होस्ट व्हाइटलिस्ट में है।',
  'Run attestry channels check. For India, use Exotel or Gupshup for SMS, and Exotel for calls; for other countries, use Twilio.':
    '“attestry channels check” चलाएँ। भारत के लिए SMS में Exotel या Gupshup और कॉल में Exotel इस्तेमाल करें; दूसरे देशों के लिए Twilio।',
  'Check the credentials in the channel settings, the balance and the status of the account at the provider.':
    'चैनल की सेटिंग में क्रेडेंशियल, और प्रोवाइडर के पास खाते का बैलेंस और स्थिति जाँचें।',
  'Lower per_second in the channel settings, or ask the provider for a higher limit.':
    'चैनल की सेटिंग में per_second घटाएँ, या प्रोवाइडर से ज़्यादा सीमा माँगें।',
  'Read the error in the contact record of a candidate, and look it up in the documentation of the provider.':
    'किसी उम्मीदवार के संपर्क रिकॉर्ड में गड़बड़ी पढ़ें, और प्रोवाइडर के दस्तावेज़ में उसका मतलब देखें।',
}
