export default {
  'We email you a link that signs you in. You do not need a password.':
    'हम आपको ईमेल से एक लिंक भेजते हैं, जिससे आप साइन इन होते हैं। आपको पासवर्ड की ज़रूरत नहीं है।',
  'API reference': 'API संदर्भ',
  'Another account of the identity provider has your email address. Ask an owner to remove the former member.':
    'आइडेंटिटी प्रोवाइडर के किसी और खाते में आपका ईमेल पता है। किसी ओनर से पुराने सदस्य को हटाने के लिए कहें।',
  'Arrow keys to move, Enter to open, Esc to close': 'आगे-पीछे जाने के लिए ऐरो कुंजियाँ, खोलने के लिए Enter, बंद करने के लिए Esc',
  'Ask an operator for the code.': 'कोड किसी ऑपरेटर से माँगें।',
  Audit: 'ऑडिट',
  Automatic: 'अपने-आप',
  'Candidates to call': 'कॉल करने योग्य उम्मीदवार',
  'Check the address, or choose a page from the menu.': 'पता जाँचें, या मेनू से कोई पेज चुनें।',
  Code: 'कोड',
  Colours: 'रंग',
  Confirm: 'पुष्टि करें',
  'Confirm that it is you': 'पुष्टि करें कि यह आप ही हैं',
  Dark: 'गहरे',
  'Eight digits; valid for 10 minutes.': 'आठ अंक; 10 मिनट तक मान्य।',
  'Email me a sign-in link': 'मुझे साइन-इन लिंक ईमेल करें',
  Events: 'इवेंट',
  'Full audit log': 'पूरा ऑडिट लॉग',
  'If email does not work, print a new link on the server:': 'अगर ईमेल काम न करे, तो सर्वर पर नया लिंक बनाएँ:',
  'If {email} has an account, we sent a sign-in link to it. The link works once and expires after 15 minutes.':
    'अगर {email} का खाता है, तो हमने उस पर साइन-इन लिंक भेज दिया है। लिंक एक ही बार काम करता है और 15 मिनट बाद समाप्त हो जाता है।',
  'If {email} has an account, we sent a sign-in link to it. The link works once and expires after 15 minutes. No email server is configured, so the email is stored: ask the operator, who can read it under Emails.':
    'अगर {email} का खाता है, तो हमने उस पर साइन-इन लिंक भेज दिया है। लिंक एक ही बार काम करता है और 15 मिनट बाद समाप्त हो जाता है। कोई ईमेल सर्वर सेट नहीं है, इसलिए ईमेल सर्वर पर रखा गया है: ऑपरेटर से पूछें, जो उसे “ईमेल” पेज पर पढ़ सकते हैं।',
  Integrate: 'सिस्टम जोड़ें',
  'It does not exist, or you are not a member of it. Choose a page from the menu.':
    'यह मौजूद नहीं है, या आप इसके सदस्य नहीं हैं। मेनू से कोई पेज चुनें।',
  Light: 'हल्के',
  'Live<detail>: real people, real credits</detail>': 'लाइव<detail>: असली लोग, असली क्रेडिट</detail>',
  Menu: 'मेनू',
  'New workflow': 'नया वर्कफ़्लो',
  'No email server is configured, so the email is stored.': 'कोई ईमेल सर्वर सेट नहीं है, इसलिए ईमेल सर्वर पर रखा गया है।',
  'No organisation': 'कोई संगठन नहीं',
  'No passkey was used. Try again, or choose another way.':
    'कोई पासकी इस्तेमाल नहीं हुई। फिर से कोशिश करें, या दूसरा तरीका चुनें।',
  'None of your groups gives you access to this organisation. Ask your administrator.':
    'आपका कोई भी समूह आपको इस संगठन तक पहुँच नहीं देता। अपने एडमिनिस्ट्रेटर से पूछें।',
  Operate: 'संचालन',
  'Operators also sign in with their email address. In a terminal, every start prints a one-time link. Without a terminal, the first start stores the link in the file operator-sign-in-link in the data folder.':
    'ऑपरेटर भी अपने ईमेल पते से साइन इन करते हैं। टर्मिनल में हर बार शुरू होने पर एक बार काम करने वाला लिंक दिखता है। टर्मिनल के बिना, पहली बार शुरू होने पर लिंक डेटा फ़ोल्डर की फ़ाइल operator-sign-in-link में रखा जाता है।',
  'Organisation not found': 'संगठन नहीं मिला',
  'Page not found': 'पेज नहीं मिला',
  Pages: 'पेज',
  Rings: 'रिंग',
  'Search candidates, jobs, campaigns, pages…': 'उम्मीदवार, जॉब, अभियान, पेज खोजें…',
  'Search pages and records': 'पेज और रिकॉर्ड खोजें',
  'Searching…': 'खोज जारी है…',
  'Send a new code': 'नया कोड भेजें',
  'Show times in IST': 'समय IST में दिखाएँ',
  'Show times in my time zone': 'समय मेरे टाइम ज़ोन में दिखाएँ',
  'Sign in': 'साइन इन करें',
  'Sign in again with the link that {command} prints on the server.':
    'सर्वर पर {command} चलाने से मिलने वाले लिंक से फिर साइन इन करें।',
  'Sign in again with {name}': '{name} से फिर साइन इन करें',
  'Sign in as an operator': 'ऑपरेटर के रूप में साइन इन करें',
  'Sign in to the console': 'कंसोल में साइन इन करें',
  'Sign in with a passkey': 'पासकी से साइन इन करें',
  'Sign in with the identity provider': 'आइडेंटिटी प्रोवाइडर से साइन इन करें',
  'Sign in with {name}': '{name} से साइन इन करें',
  'Sign out': 'साइन आउट करें',
  'Six digits of your authenticator app, or a recovery code.': 'आपके ऑथेंटिकेटर ऐप के छह अंक, या कोई रिकवरी कोड।',
  'Skip to content': 'सीधे सामग्री पर जाएँ',
  Start: 'शुरुआत',
  'TEST<detail>: no real messages</detail>': 'टेस्ट<detail>: कोई असली संदेश नहीं</detail>',
  'Test or live': 'टेस्ट या लाइव',
  'The identity provider cannot be reached. Try again later, or sign in by email.':
    'आइडेंटिटी प्रोवाइडर से संपर्क नहीं हो पा रहा। बाद में फिर कोशिश करें, या ईमेल से साइन इन करें।',
  'The identity provider did not sign you in.': 'आइडेंटिटी प्रोवाइडर ने आपको साइन इन नहीं किया।',
  'The identity provider has not verified your email address. Verify it there, or ask your administrator.':
    'आइडेंटिटी प्रोवाइडर ने आपका ईमेल पता सत्यापित नहीं किया है। इसे वहाँ सत्यापित करें, या अपने एडमिनिस्ट्रेटर से पूछें।',
  'The identity provider sent no email address. Ask your administrator to add the claim “email”.':
    'आइडेंटिटी प्रोवाइडर ने कोई ईमेल पता नहीं भेजा। अपने एडमिनिस्ट्रेटर से “email” क्लेम जोड़ने के लिए कहें।',
  'The partner API is switched off for this organisation: API calls return 503, and members can view but not change data.':
    'इस संगठन के लिए पार्टनर API बंद है: API कॉल पर 503 मिलता है, और सदस्य डेटा देख सकते हैं पर बदल नहीं सकते।',
  'The response came from another identity provider than the one that you chose. Start again on the sign-in page of your organisation.':
    'जवाब आपके चुने हुए आइडेंटिटी प्रोवाइडर के बजाय किसी और से आया। अपने संगठन के साइन-इन पेज से फिर शुरू करें।',
  'The response of the identity provider is not valid. Try again; if it fails again, ask an owner to read the audit log.':
    'आइडेंटिटी प्रोवाइडर का जवाब मान्य नहीं है। फिर से कोशिश करें; अगर फिर भी न हो, तो किसी ओनर से ऑडिट लॉग देखने के लिए कहें।',
  'The server cannot be reached. Check your connection and try again.':
    'सर्वर से संपर्क नहीं हो पा रहा। अपना कनेक्शन जाँचें और फिर कोशिश करें।',
  'The server returned status {status}.': 'सर्वर ने स्टेटस {status} लौटाया।',
  'The service is switched off for this organisation: API calls return 503, and contacts, emails and webhook deliveries are held until it is switched on. Members can view but not change data.':
    'इस संगठन के लिए सेवा बंद है: API कॉल पर 503 मिलता है, और सेवा चालू होने तक संपर्क, ईमेल और वेबहुक डिलीवरी रुकी रहती हैं। सदस्य डेटा देख सकते हैं पर बदल नहीं सकते।',
  'The sign-in took too long, or was started in another browser. Try again.':
    'साइन इन में बहुत देर लगी, या वह किसी और ब्राउज़र में शुरू हुआ था। फिर से कोशिश करें।',
  'This invitation has expired, was already used, or was replaced by a newer one. If you are a member, sign in with your email address. Otherwise, ask an owner of your organisation to send the invitation again.':
    'इस आमंत्रण की अवधि समाप्त हो चुकी है, इसका इस्तेमाल हो चुका है, या इसकी जगह नया आमंत्रण भेजा जा चुका है। अगर आप सदस्य हैं, तो अपने ईमेल पते से साइन इन करें। नहीं तो अपने संगठन के ओनर से आमंत्रण दोबारा भेजने को कहें।',
  'This change requires that you have signed in within the last 15 minutes. Sign in again: you return to this page, and can then repeat the change.':
    'इस बदलाव के लिए ज़रूरी है कि आपने पिछले 15 मिनट में साइन इन किया हो। फिर से साइन इन करें: आप इसी पेज पर लौटेंगे और बदलाव दोहरा सकेंगे।',
  'This code is wrong or has expired.': 'यह कोड गलत है या इसकी अवधि समाप्त हो गई है।',
  'This code is wrong or was already used.': 'यह कोड गलत है या पहले ही इस्तेमाल हो चुका है।',
  'This page could not be loaded. Check your connection and <button>reload</button>':
    'यह पेज लोड नहीं हो सका। अपना कनेक्शन जाँचें और <button>फिर लोड करें</button>',
  'Use a passkey': 'पासकी इस्तेमाल करें',
  Webhooks: 'वेबहुक',
  Workflows: 'वर्कफ़्लो',
  'You are not a member of any organisation. Ask an owner to add you.':
    'आप किसी संगठन के सदस्य नहीं हैं। किसी ओनर से आपको जोड़ने के लिए कहें।',
  'You are signed out of Attestry. <link>Sign out of the identity provider, too</link>':
    'आप Attestry से साइन आउट हो गए हैं। <link>आइडेंटिटी प्रोवाइडर से भी साइन आउट करें</link>',
  'You signed in more than 15 minutes ago. To continue, enter the code of your authenticator app, or a recovery code.':
    'आपको साइन इन किए 15 मिनट से ज़्यादा हो गए हैं। जारी रखने के लिए अपने ऑथेंटिकेटर ऐप का कोड, या कोई रिकवरी कोड दर्ज करें।',
  'You signed in more than 15 minutes ago. To continue, enter the code that we are emailing to {email}.':
    'आपको साइन इन किए 15 मिनट से ज़्यादा हो गए हैं। जारी रखने के लिए वह कोड दर्ज करें जो हम {email} पर भेज रहे हैं।',
  'You signed in more than 15 minutes ago. To continue, enter the code that we emailed to {email}.':
    'आपको साइन इन किए 15 मिनट से ज़्यादा हो गए हैं। जारी रखने के लिए वह कोड दर्ज करें जो हमने {email} पर भेजा है।',
  'You were removed as an operator. Ask another operator to add you again.':
    'आपको ऑपरेटर के पद से हटा दिया गया है। किसी और ऑपरेटर से आपको फिर से जोड़ने के लिए कहें।',
  'Your account is deactivated at the identity provider.': 'आइडेंटिटी प्रोवाइडर के यहाँ आपका खाता निष्क्रिय है।',
  'Your email address does not belong to a domain that this organisation allows.':
    'आपका ईमेल पता ऐसे डोमेन का नहीं है जिसकी यह संगठन अनुमति देता है।',
  alert: 'अलर्ट',
  alerts: 'अलर्ट',
  unread: 'नहीं पढ़ी गईं',
  'your sessions': 'आपके सत्र',
  '{name} requires that its members sign in with its identity provider.':
    '{name} में सदस्यों के लिए संगठन के आइडेंटिटी प्रोवाइडर से साइन इन करना ज़रूरी है।',
  'Send again, or use another address': 'फिर से भेजें, या दूसरा पता इस्तेमाल करें',
}
