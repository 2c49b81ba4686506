
use strict;
use warnings;

use lib 't/lib';
use Test::More;

use SubmissionNeeds 'no_store';
use SubmissionRefused;

put('conf/large.json', ' ' x (16 * 1024 * 1024 + 1));
put('conf/empty.json', '');
put('conf/comment.json', "# targets will come\n");
put('conf/after.json', "{\"targets\":[] # none\n}\n");
put('conf/none.json', '{"targets":[]}');
put('conf/x.json', '{"targets":[{"submissionTarget":"x","gatewayType":"sms",'
                   . '"gatewayUrl":"http://gateway","policy":"one_shot"}]}');

refused(manager => <<'EOT');
targets file "{root}/conf/{value}" cannot be opened (2: No such file or
directory)
    targets targets.json;

targets file "{root}/conf/{value}" cannot be opened (20: Not a directory)
    targets nginx.conf/targets.json;

targets file "{root}/conf/{value}" is not a file
    targets ../html;
    targets "";

targets file "{root}/conf/{value}" is larger than 16m
    targets large.json;

targets file "{root}/conf/{value}": an object was expected, not an empty
document
    targets empty.json;

targets file "{root}/conf/{value}": malformed JSON at byte 20: parse error:
premature EOF
    targets comment.json;

targets file "{root}/conf/{value}": malformed JSON at byte {any} in {here}
    targets after.json;                    # a comment after a value

"{directive}" directive is duplicate
    targets none.json;
        targets none.json;

invalid number of arguments in "{directive}" directive
    targets;
    targets a.json b.json;

duplicate target "x"
    target x {
        {contract}
    }
        targets x.json;                    # here
    targets x.json;
        target x {                         # here
            {contract}
        }
EOT

refused(http => <<'EOT');
submission_manager "main" has no target: a "target" block or a "targets" file
was expected
    submission_manager main {
        targets none.json;
    }
EOT

refused('targets.json' => <<'EOT');
{file}: an object was expected
    []

{file}: malformed JSON at byte 13: parse error: premature EOF
    {"targets":[

{file}: malformed JSON at byte {any} in {here}
    {"targets":[                           # a comma too many
        {"submissionTarget":"x","gatewayType":"sms",
         "gatewayUrl":"http://gateway","policy":"one_shot"},
        ]}

{file}: malformed JSON at byte {any}: parse error: trailing garbage in {here}
    {"targets":[]}
    }

{file}: invalid UTF-8 at byte 13
    {"targets":["{xff}"]}

{file}: "targets" is missing
    {}

{file}: "targets" must be an array
    {"targets":{}}

{file}: unknown key "version"
    {"version":1,"targets":[]}

{file}: duplicate key "targets"
    {"targets":[],"targets":[]}

{file}: nested deeper than 128 levels
    {"targets":{200 [}{200 ]}}

{file}: targets[0]: an object was expected
    {"targets":["x"]}

{file}: targets[2]: an object was expected
    {"targets":[{"submissionTarget":"a","gatewayType":"sms",
        "gatewayUrl":"http://gateway","policy":"one_shot"},
        {"submissionTarget":"b","gatewayType":"sms",
        "gatewayUrl":"http://gateway","policy":"one_shot"},
        7]}

{file}: targets[0]: "submissionTarget" is missing
    {"targets":[{"gatewayType":"sms","gatewayUrl":"http://gateway",
        "policy":"one_shot"}]}

{file}: targets[0]: "gatewayType" is missing
    {"targets":[{"submissionTarget":"x","gatewayUrl":"http://gateway",
        "policy":"one_shot"}]}

{file}: targets[0]: "gatewayUrl" is missing
    {"targets":[{"submissionTarget":"x","gatewayType":"sms",
        "policy":"one_shot"}]}

{file}: targets[0]: "policy" is missing
    {"targets":[{"submissionTarget":"x","gatewayType":"sms",
        "gatewayUrl":"http://gateway"}]}

duplicate target "x"
    {"targets":[{"submissionTarget":"x","gatewayType":"sms",
        "gatewayUrl":"http://gateway","policy":"one_shot"},
        {"submissionTarget":"x","gatewayType":"sms",
        "gatewayUrl":"http://gateway","policy":"one_shot"}]}
EOT

refused('targets.json x' => <<'EOT');
{file}: targets[0]: "submissionTarget" must be a string
    "submissionTarget":1

{file}: targets[0]: "gatewayType" must be a string
    "gatewayType":1

{file}: targets[0]: "gatewayUrl" must be a string
    "gatewayUrl":1

{file}: targets[0]: "policy" must be a string
    "policy":1

{file}: targets[0]: unknown key "retryDelay"
    "retryDelay":5

{file}: targets[0]: duplicate key "policy"
    "policy":"one_shot","policy":"one_shot"

{file}: targets[0]: "maxAcceptanceSeconds" must be a number
    "maxAcceptanceSeconds":"30"

{file}: targets[0]: "maxAttempts" must be a number
    "maxAttempts":"30"

{file}: targets[0]: "terminalOutcomes" must be an array
    "terminalOutcomes":"invalid_request"

{file}: targets[0]: a string at byte 20 has a lone surrogate
    "submissionTarget":"\ud83d"

{file}: targets[0]: "gatewayType" must be "sms", "push" or "http"
    "gatewayType":"mail"

{file}: targets[0]: "policy" must be "deadline", "max_attempts" or "one_shot"
    "policy":"forever"

{file}: targets[0]: "maxAcceptanceSeconds" is missing: the policy needs it
    "policy":"deadline"

{file}: targets[0]: "maxAttempts" is missing: the policy needs it
    "policy":"max_attempts"

{file}: targets[0]: "maxAttempts" does not go with the policy
    "policy":"one_shot","maxAttempts":1
    "policy":"deadline","maxAcceptanceSeconds":30,"maxAttempts":3

{file}: targets[0]: "maxAcceptanceSeconds" does not go with the policy
    "policy":"one_shot","maxAcceptanceSeconds":1
    "policy":"max_attempts","maxAcceptanceSeconds":30,"maxAttempts":3

{file}: targets[0]: "maxAcceptanceSeconds" must be a whole number from 1 to
31536000
    "policy":"deadline","maxAcceptanceSeconds":0
    "policy":"deadline","maxAcceptanceSeconds":31536001
    "policy":"deadline","maxAcceptanceSeconds":-1
    "policy":"deadline","maxAcceptanceSeconds":1.5
    "policy":"deadline","maxAcceptanceSeconds":1e2
    "policy":"deadline","maxAcceptanceSeconds":99999999999999999999

{file}: targets[0]: "maxAttempts" must be a whole number from 1 to 1000000
    "policy":"max_attempts","maxAttempts":0
    "policy":"max_attempts","maxAttempts":1000001
    "policy":"max_attempts","maxAttempts":-1
    "policy":"max_attempts","maxAttempts":2.0

{file}: targets[0]: "terminalOutcomes" must be an array of words
    "terminalOutcomes":[1]
    "terminalOutcomes":["invalid_request",""]
    "terminalOutcomes":["invalid_request invalid_message"]
    "terminalOutcomes":[["invalid_request"]]

{file}: targets[0]: terminal outcome "invalid_token" is not of gateway type
"sms": "invalid_request", "invalid_recipient" or "invalid_message" was expected
    "terminalOutcomes":["invalid_request","invalid_token"]

{file}: targets[0]: terminal outcome "http_429" is not of gateway type "http":
"http_400" to "http_499", except 408, 425 and 429 was expected
    "gatewayType":"http","terminalOutcomes":["http_429"]

{file}: targets[0]: the list of terminal outcomes is longer than 1000 bytes
    "terminalOutcomes":[{55 "invalid_recipient",}"invalid_recipient"]

{file}: targets[0]: the target's name must not be empty
    "submissionTarget":""

{file}: targets[0]: the target's name must not be longer than 128 characters
    "submissionTarget":"{129 ж}"

{file}: targets[0]: the target's name must not contain spaces or control
characters
    "submissionTarget":"a b"
    "submissionTarget":"a\u0000"

{file}: targets[0]: the gateway URL must be "http://host..." or
"https://host..."
    "gatewayUrl":"gateway:9090"

{file}: targets[0]: the gateway URL must name a host
    "gatewayUrl":"http://:9090"

{file}: targets[0]: the gateway URL must be of plain URL characters, without
query or fragment
    "gatewayUrl":"http://gateway/?a"
    "gatewayUrl":"http://gateway\u0000"

{file}: targets[0]: the gateway URL must not be longer than 1024 bytes
    "gatewayUrl":"http://{1018 x}"
EOT

done_testing();
